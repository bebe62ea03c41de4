#pragma once
// All factorizations are in double: for floats they are exact to a float's rounding, and compiled once.

#include <duplex/numerics/dense.hpp>

namespace duplex::dense {

using Doubles = Matrix<double>;

template <class Derived> auto in_double(const Eigen::MatrixBase<Derived> &of) {
  return Eigen::Matrix<double, Derived::RowsAtCompileTime, Derived::ColsAtCompileTime>(of.template cast<double>());
}

} // namespace duplex::dense
