#pragma once
// Vectors of the engine as arrays of NumPy and back.

#include "python/lock.hpp"

#include <pybind11/numpy.h>

#include <Eigen/Core>

#include <string>

namespace duplex::python {

using Vector = Eigen::VectorXd;
using Array = py::array_t<double>;

/// A copy of its own.
[[nodiscard]] Array array_of(const Vector &vector);

/// The entries of an array of numbers, of any kind and layout, that has one dimension. Throws InvalidInput, with the
/// name, where it is no such array; whether entries are finite is for the engine to say.
[[nodiscard]] Vector vector_of(const py::object &given, const std::string &name);

/// Why the result of a function is no vector of that size, and what was expected; empty where it is, and was copied
/// into `out`. Call it with the lock.
[[nodiscard]] std::string copy_result(const py::handle &result, Vector &out);

} // namespace duplex::python
