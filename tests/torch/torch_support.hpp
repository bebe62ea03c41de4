#pragma once
// The built-in problems again, as losses on tensors, beside their Eigen originals.

#include "support.hpp"

#include <duplex/torch/tensor_problem.hpp>

#include <ATen/ATen.h>

#include <fstream>
#include <functional>
#include <optional>
#include <utility>

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

inline std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

/// How much a number of bytes grows from some steps into a run to its end.
class GrowthWatch final : public Observer<Tensors> {
public:
  explicit GrowthWatch(std::function<std::int64_t()> bytes) : bytes_(std::move(bytes)) {}

  void observe(const Progress<Tensors> &progress) override {
    constexpr std::int64_t settled = 200;
    if (!early_ && progress.iteration >= settled) {
      early_ = bytes_();
    }
    late_ = bytes_();
    last_iteration_ = progress.iteration;
  }

  /// Over a run of that many steps beyond the first 200.
  template <class P, class S>
  [[nodiscard]] static std::int64_t of_run(std::function<std::int64_t()> bytes, const P &problem, const S &solver,
                                           std::int64_t steps) {
    GrowthWatch watch(std::move(bytes));
    Monitor<Tensors> monitor;
    monitor.observers = {&watch};
    monitor.cadence = {.every = 100};
    auto state = problem.start();
    (void)solve(problem, solver, state, {.max_iterations = 300 + steps}, monitor);
    EXPECT_EQ(watch.last_iteration_, 300 + steps);
    return watch.late_ - watch.early_.value();
  }

private:
  std::function<std::int64_t()> bytes_;
  std::optional<std::int64_t> early_;
  std::int64_t late_ = 0;
  std::int64_t last_iteration_ = 0;
};

/// The same solver on two forms of one problem.
template <class One, class Other, class S>
void expect_the_same_run(const One &one, const Other &other, const S &solver, std::int64_t steps, double tolerance) {
  auto a = one.start();
  auto b = other.start();
  const auto summary = run_steps(one, solver, a, steps);
  EXPECT_EQ(run_steps(other, solver, b, steps).counters, summary.counters);
  EXPECT_EQ(summary.iterations, steps) << summary.brief();
  EXPECT_LE(relative_error(entries_of(b.x), entries_of(a.x)), tolerance);
  EXPECT_LE(relative_error(entries_of(b.y), entries_of(a.y)), tolerance);
}

/// What one more step of RHG's inner loop costs in memory, in copies of y: by the peaks of two short runs with y of
/// 2 MB on the device. `reset` begins a new measurement of the peak, `peak` gives it in bytes.
template <class Reset, class Peak>
[[nodiscard]] double copies_of_y_per_inner_step(const at::Device &device, const Reset &reset, const Peak &peak) {
  constexpr std::int64_t entries = std::int64_t(1) << 18;
  constexpr double bytes_of_y = 8.0 * entries;
  const auto options = at::device(device).dtype(at::kDouble);
  const TensorProblem problem(
      [](const auto &x, const auto &y) { return (x[0] - 1).square().sum() + y[0].square().mean(); },
      [](const auto &x, const auto &y) { return (y[0] - x[0]).pow(4).mean(); }, Tensors({at::zeros(1, options)}),
      Tensors({at::full({entries}, 0.1, options)}));
  const auto peak_with = [&](std::int64_t inner) {
    auto state = problem.start();
    reset();
    const auto summary = run_steps(problem, Rhg{.alpha = 0.1, .beta = 0.1, .inner = inner}, state, 1);
    EXPECT_EQ(summary.iterations, 1) << summary.brief();
    return static_cast<double>(peak());
  };
  constexpr std::int64_t few = 20;
  constexpr std::int64_t many = 60;
  (void)peak_with(few); // what is loaded and cached for good
  const double of_few = peak_with(few);
  const double of_many = peak_with(many);
  return (of_many - of_few) / (static_cast<double>(many - few) * bytes_of_y);
}

} // namespace duplex::testing
