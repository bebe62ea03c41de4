#pragma once
// The built-in problems again, as losses on tensors, beside their Eigen originals.

#include "../support.hpp"

#include <duplex/torch/tensor_problem.hpp>

#include <ATen/ATen.h>

namespace duplex::testing {

template <class Scalar> constexpr at::ScalarType type_of = std::is_same_v<Scalar, float> ? at::kFloat : at::kDouble;

template <class Scalar> at::Tensor tensor_of(const Eigen::Matrix<Scalar, Eigen::Dynamic, 1> &v) {
  at::Tensor out = at::empty({v.size()}, type_of<Scalar>);
  std::copy(v.begin(), v.end(), out.data_ptr<Scalar>());
  return out;
}

template <class Scalar> at::Tensor tensor_of(const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> &m) {
  at::Tensor out = at::empty({m.rows(), m.cols()}, type_of<Scalar>);
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) {
      out.data_ptr<Scalar>()[i * m.cols() + j] = m(i, j);
    }
  }
  return out;
}

/// All entries one after the other.
inline Vec entries_of(const Tensors &tensors) {
  Vec out(size(tensors));
  Index next = 0;
  for (const auto &tensor : tensors) {
    const at::Tensor flat = tensor.to(at::kCPU, at::kDouble).contiguous().reshape(-1);
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      out[next++] = flat.data_ptr<double>()[i];
    }
  }
  return out;
}

/// min ½‖x − e‖² + ½yᵀAy where y minimizes ½yᵀAy − xᵀy.
template <class Scalar> TensorProblem counter_example_on_tensors(const at::Tensor &a, const State<Vec> &start) {
  const auto half_square = [a](const at::Tensor &y) { return 0.5 * y.dot(a.mv(y)); };
  const auto options = a.options();
  return {[half_square](const auto &x, const auto &y) { return 0.5 * (x[0] - 1).square().sum() + half_square(y[0]); },
          [half_square](const auto &x, const auto &y) { return half_square(y[0]) - x[0].dot(y[0]); },
          Tensors({tensor_of<double>(start.x).to(options)}), Tensors({tensor_of<double>(start.y).to(options)})};
}

} // namespace duplex::testing
