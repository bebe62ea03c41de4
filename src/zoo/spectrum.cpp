#include "zoo/spectrum.hpp"

#include <Eigen/Eigenvalues>

namespace duplex::zoo {

template <class T> Spectrum<T> spectrum_of(const MatrixOver<T> &matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixOver<T>> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

template Spectrum<double> spectrum_of<double>(const MatrixOver<double> &);
template Spectrum<long double> spectrum_of<long double>(const MatrixOver<long double> &);

} // namespace duplex::zoo
