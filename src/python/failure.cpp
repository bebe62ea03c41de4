#include "python/failure.hpp"

#include "python/errors.hpp"

namespace duplex::python {

Failure::~Failure() {
  const py::gil_scoped_acquire lock;
  error_.reset();
}

void Failure::keep() {
  error_.emplace();
  PyException_SetTraceback(error_->value().ptr(), error_->trace() ? error_->trace().ptr() : Py_None);
  asked_to_end_.store(true);
}

void Failure::leave() {
  keep();
  throw Cancelled{};
}

void Failure::leave_with(const std::string &sentence) {
  set_invalid_input(sentence);
  leave();
}

void Failure::require_none() const {
  if (error_) {
    throw Cancelled{};
  }
}

py::object Failure::value() const { return error_ ? py::reinterpret_borrow<py::object>(error_->value()) : py::none(); }

void Failure::raise() {
  if (error_) {
    throw py::error_already_set(*error_);
  }
}

} // namespace duplex::python
