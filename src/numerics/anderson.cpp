#include <duplex/numerics/anderson.hpp>

#include <Eigen/Cholesky>

namespace duplex::detail {

MixingVector mixing_weights(const MixingMatrix &gram, const MixingVector &slopes) {
  constexpr double ridge = 1e-3; // beside columns of length one
  MixingVector scales(gram.rows());
  for (Index i = 0; i < gram.rows(); ++i) {
    scales[i] = gram(i, i) > 0.0 ? 1.0 / std::sqrt(gram(i, i)) : 0.0;
  }
  MixingMatrix normal = scales.asDiagonal() * gram * scales.asDiagonal();
  normal.diagonal().array() += ridge;
  return scales.cwiseProduct(normal.llt().solve(scales.cwiseProduct(slopes)));
}

} // namespace duplex::detail
