#include "python/level.hpp"

#include <fmt/format.h>

#include <cstring>

namespace duplex::python {

namespace {

void copy(const Vector &from, double *to) {
  std::memcpy(to, from.data(), sizeof(double) * static_cast<std::size_t>(from.size()));
}

/// An array of zeros that functions may read but, unless it is to be writable, not write.
Array own_array(Index size, bool is_writable) {
  Array array(size);
  std::memset(array.mutable_data(), 0, sizeof(double) * static_cast<std::size_t>(size));
  if (!is_writable) {
    array.attr("flags").attr("writeable") = false;
  }
  return array;
}

double *memory_of(const Array &array) {
  return const_cast<double *>(array.data());
} // NOLINT: it is written by us alone

} // namespace

Level::Level(const LevelSetting &setting, Index x_size, Index y_size, std::shared_ptr<Failure> failure)
    : name_(setting.name), failure_(std::move(failure)), x_(own_array(x_size, setting.writable_point)),
      y_(own_array(y_size, setting.writable_point)), v_(own_array(y_size, setting.writable_point)),
      out_x_(own_array(x_size, true)), out_y_(own_array(y_size, true)), x_data_(memory_of(x_)), y_data_(memory_of(y_)),
      v_data_(memory_of(v_)) {
  try {
    const auto made = setting.make(x_, y_).cast<py::list>();
    for (std::size_t i = 0; i < member_count; ++i) {
      const auto function = made[i].cast<py::tuple>();
      if (!function[0].is_none()) {
        functions_[i] = {function[0], function[1].cast<bool>(), function[2].cast<bool>()};
      }
    }
  } catch (py::error_already_set &error) {
    error.restore();
    failure_->leave();
  }
}

std::string Level::shown(Member member) const { return fmt::format("{}: {}", name_, member_names[place(member)]); }

const Array &Level::output(Member member) const {
  return member == Member::grad_x || member == Member::cross_xy ? out_x_ : out_y_;
}

py::object Level::call(Member member, const Array *v, const Array *out) {
  const Function &function = functions_[place(member)];
  std::array<PyObject *, 5> arguments{}; // the first is the callee's to use
  std::size_t count = 0;
  const auto add = [&](const Array &array) { arguments[++count] = array.ptr(); };
  if (function.takes_point) {
    add(x_);
    add(y_);
  }
  if (v != nullptr) {
    add(*v);
  }
  if (out != nullptr) {
    add(*out);
  }
  auto result = py::reinterpret_steal<py::object>(
      PyObject_Vectorcall(function.call.ptr(), arguments.data() + 1, count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  if (!result) {
    failure_->leave();
  }
  return result;
}

void Level::at(const Vector &x, const Vector &y) {
  failure_->require_none();
  copy(x, x_data_);
  copy(y, y_data_);
  if (has(Member::at)) {
    const py::gil_scoped_acquire lock;
    (void)call(Member::at, nullptr, nullptr);
  }
}

double Level::value() {
  failure_->require_none();
  const py::gil_scoped_acquire lock;
  const auto result = call(Member::value, nullptr, nullptr);
  const double number = PyFloat_AsDouble(result.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
      failure_->leave();
    }
    PyErr_Clear();
    failure_->leave_with(
        fmt::format("{} returned {}, expected a number", shown(Member::value), Py_TYPE(result.ptr())->tp_name));
  }
  return number;
}

void Level::take(Member member, const py::object &result, Vector &out) {
  if (const std::string wrong = copy_result(result, out); !wrong.empty()) {
    failure_->leave_with(shown(member) + " " + wrong);
  }
}

void Level::fill_by(Member member, const Array *v, Vector &out) {
  const bool takes_out = functions_[place(member)].takes_out;
  const Array &own = output(member);
  const auto result = call(member, v, takes_out ? &own : nullptr);
  if (takes_out && result.is_none()) {
    std::memcpy(out.data(), own.data(), sizeof(double) * static_cast<std::size_t>(out.size()));
  } else {
    take(member, result, out);
  }
}

void Level::copy_direction(const Vector &v) {
  failure_->require_none();
  copy(v, v_data_);
}

void Level::fill(Member member, Vector &out) {
  failure_->require_none();
  const py::gil_scoped_acquire lock;
  fill_by(member, nullptr, out);
}

void Level::fill(Member member, const Vector &v, Vector &out) {
  copy_direction(v);
  const py::gil_scoped_acquire lock;
  fill_by(member, &v_, out);
}

void Level::fill_both(const Vector &v, Vector &hess, Vector &cross) {
  copy_direction(v);
  const py::gil_scoped_acquire lock;
  const auto result = call(Member::both_products, &v_, nullptr);
  if (!PyTuple_Check(result.ptr()) || PyTuple_GET_SIZE(result.ptr()) != 2) {
    failure_->leave_with(fmt::format("{} returned {}, expected a tuple of two arrays", shown(Member::both_products),
                                     Py_TYPE(result.ptr())->tp_name));
  }
  take(Member::both_products, py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(result.ptr(), 0)), hess);
  take(Member::both_products, py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(result.ptr(), 1)), cross);
}

} // namespace duplex::python
