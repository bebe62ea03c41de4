#include "zoo/separable.hpp"

#include <algorithm>

namespace duplex::zoo {

Eigen::MatrixXd draw_spd(Draws &draws, Index size, double smallest, double largest) {
  Eigen::VectorXd spectrum(size);
  for (Index i = 0; i < size; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(std::max<Index>(size - 1, 1));
    spectrum[i] = smallest * std::pow(largest / smallest, place);
  }
  Eigen::MatrixXd matrix = spectrum.asDiagonal();
  // Reflections I − 2uuᵀ from both sides turn the axes and keep the spectrum; three make the matrix dense.
  for (int turn = 0; turn < 3; ++turn) {
    const Eigen::VectorXd u = draws.normals(size).normalized();
    matrix -= 2.0 * u * (u.transpose() * matrix).eval();
    matrix -= 2.0 * (matrix * u).eval() * u.transpose();
  }
  return 0.5 * (matrix + matrix.transpose());
}

} // namespace duplex::zoo
