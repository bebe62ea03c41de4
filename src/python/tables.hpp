#pragma once
// Tables and labels as Python gives them (duplex/_tables.py), as the data that files would be.

#include "data/dataset.hpp"
#include "data/labels.hpp"
#include "python/lock.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace duplex::python {

/// Throws InvalidInput, with the name, as of a file with the same content. `plan` is that of the training data's
/// columns, or null.
[[nodiscard]] data::Dataset read_table(const py::dict &table, const std::string &name,
                                       const std::shared_ptr<const data::TablePlan> &plan);

/// Numbers of rows, and the names that they stand for, in the order of a file's labels.
struct Labels {
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> names;
};
[[nodiscard]] Labels read_labels(const py::dict &labels);

/// A mask over rows; empty where there is none.
[[nodiscard]] std::vector<bool> read_mask(const py::object &mask);

} // namespace duplex::python
