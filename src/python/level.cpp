#include "python/level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace duplex::python {

namespace {

void copy(const Vector &from, double *to) {
  std::memcpy(to, from.data(), sizeof(double) * static_cast<std::size_t>(from.size()));
}

} // namespace

OwnArray::OwnArray(Index size, bool is_writable) : array(size), memory(array.mutable_data()) {
  std::fill_n(memory, size, 0.0);
  if (!is_writable) {
    array.attr("flags").attr("writeable") = false;
  }
}

Level::Level(const LevelSetting &setting, Index x_size, Index y_size, std::shared_ptr<Failure> failure)
    : name_(setting.name), failure_(std::move(failure)), x_(x_size, setting.writable_point),
      y_(y_size, setting.writable_point), v_(y_size, setting.writable_point), out_x_(x_size, true),
      out_y_(y_size, true) {
  try {
    const auto made = setting.make(x_.array, y_.array).cast<py::list>();
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

const OwnArray &Level::output(Member member) const {
  return member == Member::grad_x || member == Member::cross_xy ? out_x_ : out_y_;
}

py::object Level::call(Member member, const OwnArray *v, const OwnArray *out) {
  const Function &function = functions_[place(member)];
  std::array<PyObject *, 5> arguments{}; // the first is the callee's to use
  std::size_t count = 0;
  const auto add = [&](const OwnArray &own) { arguments[++count] = own.array.ptr(); };
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
  copy(x, x_.memory);
  copy(y, y_.memory);
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

void Level::fill_by(Member member, const OwnArray *v, Vector &out) {
  const bool takes_out = functions_[place(member)].takes_out;
  const OwnArray &own = output(member);
  const auto result = call(member, v, takes_out ? &own : nullptr);
  if (takes_out && result.is_none()) {
    std::memcpy(out.data(), own.memory, sizeof(double) * static_cast<std::size_t>(out.size()));
  } else {
    take(member, result, out);
  }
}

void Level::copy_direction(const Vector &v) {
  failure_->require_none();
  copy(v, v_.memory);
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
