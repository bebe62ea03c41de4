#include "zoo/least_squares.hpp"

#include <duplex/numerics/dense.hpp>

#include <Eigen/QR>

namespace duplex::zoo {

template <> VectorOver<double> solve_singular(const MatrixOver<double> &system, const VectorOver<double> &right) {
  return dense::least_squares<double>(system, right);
}

template <>
VectorOver<long double> solve_singular(const MatrixOver<long double> &system, const VectorOver<long double> &right) {
  return Eigen::CompleteOrthogonalDecomposition<MatrixOver<long double>>(system).solve(right);
}

} // namespace duplex::zoo
