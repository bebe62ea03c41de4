#pragma once
// An exception that a function of a problem has raised in the middle of a run. The engine is left as by a run that is
// asked to end, so that x, y and v are what they were before the step; then the exception goes on its way as it was.

#include "python/lock.hpp"

#include <duplex/core/clock.hpp>
#include <duplex/core/error.hpp>

#include <atomic>
#include <optional>
#include <string>

namespace duplex::python {

class Failure {
public:
  Failure() = default;
  Failure(const Failure &) = delete;
  Failure &operator=(const Failure &) = delete;
  ~Failure();

  /// Raised to ask a run to end, and where a function has failed.
  [[nodiscard]] std::atomic<bool> &asked_to_end() { return asked_to_end_; }
  [[nodiscard]] bool exists() const { return error_.has_value(); }
  /// Keeps the exception that Python has raised. Call it with the lock.
  void keep();
  /// The same, and leaves the work.
  [[noreturn]] void leave();
  /// The same with duplex.InvalidInput.
  [[noreturn]] void leave_with(const std::string &sentence);
  /// Nothing is called once a function has failed.
  void require_none() const;
  /// The exception that was kept, or None.
  [[nodiscard]] py::object value() const;
  /// Raises the exception that was kept, if any.
  void raise();

private:
  std::atomic<bool> asked_to_end_ = false;
  std::optional<py::error_already_set> error_;
};

/// Does work outside of a run in which functions of Python may fail, without the lock, and raises what they raised.
template <class Work> auto without_lock(Failure &failure, const Work &work) {
  try {
    const py::gil_scoped_release others_may_run;
    return work();
  } catch (const Cancelled &) {
    failure.raise();
    throw Interrupted("the work was asked to end");
  }
}

} // namespace duplex::python
