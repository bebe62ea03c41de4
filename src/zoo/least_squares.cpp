#include "zoo/least_squares.hpp"

#include <Eigen/QR>

namespace duplex::zoo {

template <class T> VectorOver<T> solve_singular(const MatrixOver<T> &system, const VectorOver<T> &right) {
  return Eigen::CompleteOrthogonalDecomposition<MatrixOver<T>>(system).solve(right);
}

template VectorOver<double> solve_singular<double>(const MatrixOver<double> &, const VectorOver<double> &);
template VectorOver<long double> solve_singular<long double>(const MatrixOver<long double> &,
                                                             const VectorOver<long double> &);

} // namespace duplex::zoo
