#pragma once

#include <stdexcept>
#include <string>

namespace duplex {

/// Wrong options, wrong sizes, a start that is not finite: anything the caller
/// can mend by calling again with other arguments. Thrown before any work.
class InvalidInput : public std::invalid_argument {
public:
  using std::invalid_argument::invalid_argument;
};

/// A quantity that was asked for does not exist on this problem, such as the
/// exact hypergradient where the lower Hessian is singular.
class NotAvailable : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for the work to stop, and there is nothing to show for it.
class Interrupted : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Memory is out, on the host or on a device. Says what was asked for, what was free and what to reduce.
class OutOfMemory : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace duplex
