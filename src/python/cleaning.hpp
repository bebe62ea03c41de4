#pragma once
// Finding wrong labels: what `duplex clean` does, on tables of Python's.

#include <pybind11/pybind11.h>

namespace duplex::python {

/// Makes Model, clean and what goes with them.
void add_cleaning(pybind11::module_ &module);

} // namespace duplex::python
