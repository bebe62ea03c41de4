#pragma once
// The interpreter's lock, and what may be held, copied and let go of without it: the engine works without the lock, and
// takes it to call into Python.

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

namespace duplex::python {

namespace py = pybind11;

/// Something made of Python's objects, which whoever lets go of it last destroys with the lock.
template <class T> [[nodiscard]] std::shared_ptr<T> held_without_lock(T value) {
  return {new T(std::move(value)), [](T *held) {
            const py::gil_scoped_acquire lock;
            delete held;
          }};
}

} // namespace duplex::python
