// duplex._core: the engine and the catalog for Python. What people use is in the package duplex (python/duplex).

#include "python/cleaning.hpp"
#include "python/errors.hpp"
#include "python/run.hpp"
#include "python/source.hpp"

#include <duplex/version.hpp>

#include <pybind11/pybind11.h>

PYBIND11_MODULE(_core, module) {
  module.doc() = "What of Duplex is compiled; use the package duplex.";
  module.attr("version") = duplex::version;
  duplex::python::add_errors(module);
  duplex::python::add_problems(module);
  duplex::python::add_runs(module);
  duplex::python::add_cleaning(module);
}
