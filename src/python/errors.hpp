#pragma once
// What the engine throws, as exceptions of Python with the same sentences.

#include <pybind11/pybind11.h>

#include <string>

namespace duplex::python {

/// Makes them members of the module, and what is thrown from now on one of them.
void add_errors(pybind11::module_ &module);

/// Sets duplex.InvalidInput as the exception that Python is to raise. Call it with the lock.
void set_invalid_input(const std::string &sentence);

} // namespace duplex::python
