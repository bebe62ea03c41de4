#pragma once
// What runs and checks have found, as dicts of Python.

#include "experiment/experiment.hpp"
#include "python/lock.hpp"

#include <duplex/measure/check.hpp>

namespace duplex::python {

/// A run with its trace, as duplex.Result has it.
[[nodiscard]] py::dict series_dict(const experiment::Series &series);
[[nodiscard]] py::dict report_dict(const CheckReport &report);

} // namespace duplex::python
