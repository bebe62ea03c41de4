#include <duplex/numerics/matrices.hpp>

#include <duplex/core/fields.hpp>
#include <duplex/kernels/symmetric_pair.hpp>

namespace duplex {

template <class Scalar> DenseSpd<Scalar>::DenseSpd(Matrix entries) {
  require_symmetric(entries);
  auto data = std::make_shared<Data>();
  data->entries = std::move(entries);
  data->factor.emplace(data->entries);
  if (!data->factor->is_positive_definite()) {
    throw InvalidInput("matrix: not positive definite (smallest pivot of its factorization: " +
                       number_text(data->factor->smallest_pivot()) + ")");
  }
  data_ = std::move(data);
}

template <class Scalar>
DenseSpd<Scalar> DenseSpd<Scalar>::with_spectrum(const Vector &eigenvalues, std::uint64_t seed) {
  constexpr int reflections = 3;
  const DiagonalSpd<Scalar> positive_spectrum(eigenvalues);
  auto data = std::make_shared<Data>();
  data->eigenvalues = eigenvalues;
  std::mt19937_64 generator(seed);
  Matrix entries = eigenvalues.asDiagonal();
  for (int i = 0; i < reflections; ++i) {
    Vector w(eigenvalues.size());
    fill_normal(generator, w);
    w.normalize();
    // (I − 2wwᵀ) A (I − 2wwᵀ) = A − wqᵀ − qwᵀ with q = 2Aw − 2(wᵀAw)w
    const Vector aw = entries * w;
    const Vector q = Scalar(2) * aw - (Scalar(2) * w.dot(aw)) * w;
    entries.noalias() -= w * q.transpose();
    entries.noalias() -= q * w.transpose();
    data->reflectors.push_back(std::move(w));
  }
  for (Index j = 0; j < entries.cols(); ++j) { // exactly symmetric, as the pair product assumes
    for (Index i = j + 1; i < entries.rows(); ++i) {
      entries(j, i) = entries(i, j);
    }
  }
  data->entries = std::move(entries);
  return DenseSpd(std::shared_ptr<const Data>(std::move(data)));
}

template <class Scalar> void DenseSpd<Scalar>::solve(const Vector &in, Vector &out) const {
  if (data_->factor) {
    data_->factor->solve(in, out);
    return;
  }
  out = in;
  for (std::size_t i = data_->reflectors.size(); i-- > 0;) {
    reflect(data_->reflectors[i], out);
  }
  out.array() /= data_->eigenvalues.array();
  for (const auto &reflector : data_->reflectors) {
    reflect(reflector, out);
  }
}

template <class Scalar>
void DenseSpd<Scalar>::multiply(const Scalar *u, const Scalar *w, Scalar *au, Scalar *aw) const {
  static thread_local Vector scratch; // grows to the largest size once
  const auto n = static_cast<std::size_t>(size());
  const int threads = kernels::symmetric_pair_threads(n);
  const auto needed = static_cast<Index>(kernels::symmetric_pair_scratch(n));
  if (scratch.size() < needed) {
    scratch.resize(needed);
  }
  kernels::symmetric_pair_product(n, data_->entries.data(), static_cast<std::size_t>(data_->entries.outerStride()), u,
                                  w, au, aw, scratch.data(), threads);
}

template <class Scalar> void DenseSpd<Scalar>::require_symmetric(Matrix &entries) {
  if (entries.rows() == 0 || entries.rows() != entries.cols()) {
    throw InvalidInput("matrix: " + std::to_string(entries.rows()) + " rows and " + std::to_string(entries.cols()) +
                       " columns, expected a square matrix");
  }
  if (!entries.allFinite()) {
    throw InvalidInput("matrix: holds NaN or infinity, expected finite numbers");
  }
  const Scalar largest = entries.cwiseAbs().maxCoeff();
  const Scalar allowed = Scalar(64) * Eigen::NumTraits<Scalar>::epsilon() * largest;
  for (Index j = 0; j < entries.cols(); ++j) {
    for (Index i = j + 1; i < entries.rows(); ++i) {
      if (std::abs(entries(i, j) - entries(j, i)) > allowed) {
        const auto text = [](Index row, Index column, Scalar value) {
          return "entry (" + std::to_string(row + 1) + ", " + std::to_string(column + 1) + ") is " +
                 number_text(static_cast<double>(value));
        };
        throw InvalidInput("matrix: not symmetric: " + text(i, j, entries(i, j)) + ", " + text(j, i, entries(j, i)));
      }
      entries(j, i) = entries(i, j);
    }
  }
}

template class DenseSpd<float>;
template class DenseSpd<double>;

} // namespace duplex
