#include "python/tables.hpp"

#include "data/in_memory.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <span>
#include <utility>

namespace duplex::python {

namespace {

template <class T> std::span<const T> entries_of(const py::array_t<T> &array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

template <class T> std::vector<T> copy_of(const py::handle &given) {
  const auto entries = given.cast<py::array_t<T>>();
  return {entries.data(), entries.data() + entries.size()};
}

data::Dataset read_dense(const py::dict &table, const std::string &name) {
  const auto array = table["array"].cast<py::array>();
  data::MemoryArray memory{
      .type = array.dtype().attr("str").cast<std::string>(),
      .shape = {array.shape(), array.shape() + array.ndim()},
      .bytes = {static_cast<const std::byte *>(array.data()), static_cast<std::size_t>(array.nbytes())}};
  const py::gil_scoped_release others_may_run;
  return data::read_array(memory, name);
}

data::Dataset read_sparse(const py::dict &table, const std::string &name) {
  SparseEntries entries{.ends = copy_of<std::size_t>(table["ends"]),
                        .columns = copy_of<std::uint32_t>(table["columns"]),
                        .values = copy_of<float>(table["values"])};
  const auto width = table["width"].cast<Index>();
  const py::gil_scoped_release others_may_run;
  return data::read_entries(std::move(entries), width, name);
}

data::Dataset read_columns(const py::dict &table, const std::string &name,
                           const std::shared_ptr<const data::TablePlan> &plan) {
  const auto names = table["names"].cast<std::vector<std::string>>();
  const auto given = table["columns"].cast<py::list>();
  std::vector<data::MemoryColumn> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    data::MemoryColumn column{.name = names[i]};
    if (py::isinstance<py::array_t<double>>(given[i])) {
      column.numbers = entries_of(given[i].cast<py::array_t<double>>()); // which the list keeps
    } else {
      column.texts = given[i].cast<std::vector<std::optional<std::string>>>();
    }
    columns.push_back(std::move(column));
  }
  data::ReadOptions options{.plan = plan};
  options.expect_labels = false;
  options.may_have_labels = false;
  const py::gil_scoped_release others_may_run;
  return data::read_columns(columns, name, options);
}

} // namespace

data::Dataset read_table(const py::dict &table, const std::string &name,
                         const std::shared_ptr<const data::TablePlan> &plan) {
  const auto kind = table["kind"].cast<std::string>();
  return kind == "array"     ? read_dense(table, name)
         : kind == "entries" ? read_sparse(table, name)
                             : read_columns(table, name, plan);
}

Labels read_labels(const py::dict &labels) {
  const auto names = labels["names"].cast<std::vector<std::string>>();
  data::LabelCollector collector;
  for (const auto number : copy_of<std::int64_t>(labels["numbers"])) {
    collector.add(names.at(static_cast<std::size_t>(number)));
  }
  Labels out;
  collector.finish(out.numbers, out.names);
  return out;
}

std::vector<bool> read_mask(const py::object &mask) {
  if (mask.is_none()) {
    return {};
  }
  const auto entries = copy_of<std::uint8_t>(mask);
  return {entries.begin(), entries.end()};
}

} // namespace duplex::python
