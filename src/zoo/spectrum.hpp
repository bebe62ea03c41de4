#pragma once
// Eigenvalues and eigenvectors of a symmetric matrix, which are slow to compile: once for all that ask.

#include "zoo/draws.hpp"

namespace duplex::zoo {

template <class T> struct Spectrum {
  VectorOver<T> values; ///< ascending
  MatrixOver<T> vectors;
};

/// For T = double and long double.
template <class T> [[nodiscard]] Spectrum<T> spectrum_of(const MatrixOver<T> &matrix);

} // namespace duplex::zoo
