#pragma once
// Runs of methods by name.

#include <pybind11/pybind11.h>

namespace duplex::python {

/// Makes minimize, check, truth and what lists methods and problems.
void add_runs(pybind11::module_ &module);

} // namespace duplex::python
