#include "python/vectors.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace duplex::python {

namespace {

std::string type_name(const py::handle &object) { return Py_TYPE(object.ptr())->tp_name; }

std::string shape_text(const py::array &array) { return py::str(array.attr("shape")).cast<std::string>(); }

/// Integers, booleans and floats.
bool holds_real_numbers(const py::array &array) {
  const char kind = array.dtype().kind();
  return kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b';
}

/// As an array, or none where it cannot be one.
std::optional<py::array> as_array(const py::handle &object) {
  auto array = py::array::ensure(object);
  return array ? std::optional<py::array>(std::move(array)) : std::nullopt;
}

void copy_entries(const Array &from, Vector &to) {
  const auto stride = from.strides(0);
  const char *entry = reinterpret_cast<const char *>(from.data());
  if (stride == sizeof(double)) {
    std::memcpy(to.data(), entry, sizeof(double) * static_cast<std::size_t>(to.size()));
    return;
  }
  for (Eigen::Index i = 0; i < to.size(); ++i, entry += stride) {
    std::memcpy(to.data() + i, entry, sizeof(double));
  }
}

} // namespace

Array array_of(const Vector &vector) { return Array(vector.size(), vector.data()); }

Vector vector_of(const py::object &given, const std::string &name) {
  const auto array = as_array(given);
  if (!array || !holds_real_numbers(*array)) {
    throw InvalidInput(fmt::format("{}: found {}, expected an array of numbers", name,
                                   array ? fmt::format("an array of {}", py::str(array->dtype()).cast<std::string>())
                                         : type_name(given)));
  }
  if (array->ndim() != 1 || array->size() == 0) {
    throw InvalidInput(fmt::format("{}: found an array of shape {}, expected one dimension with at least one entry",
                                   name, shape_text(*array)));
  }
  const Array numbers(*array);
  Vector out(numbers.size());
  copy_entries(numbers, out);
  return out;
}

std::string copy_result(const py::handle &result, Vector &out) {
  if (Array::check_(result)) { // nearly always
    const auto array = py::reinterpret_borrow<Array>(result);
    if (array.ndim() == 1 && array.size() == out.size()) {
      copy_entries(array, out);
      return {};
    }
    return fmt::format("returned an array of shape {}, expected ({},)", shape_text(array), out.size());
  }
  if (result.is_none()) {
    return fmt::format("returned None, expected an array of shape ({},)", out.size());
  }
  const auto array = as_array(result);
  if (!array || !holds_real_numbers(*array)) {
    return fmt::format("returned {}, expected an array of {} numbers",
                       array ? fmt::format("an array of {}", py::str(array->dtype()).cast<std::string>())
                             : type_name(result),
                       out.size());
  }
  if (array->ndim() != 1 || array->size() != out.size()) {
    return fmt::format("returned an array of shape {}, expected ({},)", shape_text(*array), out.size());
  }
  copy_entries(Array(*array), out);
  return {};
}

} // namespace duplex::python
