#pragma once
// Ctrl-C, SIGTERM and SIGHUP. While a command has nothing to lose, they end it at once. While it works on something
// that can be kept, the first one asks it to end with what it has; where it does not within two seconds, whatever it
// waits for, the program ends and what was saved before stands (a file that is being written then is finished before).
// A second one ends it at once.

#include <atomic>

namespace duplex::cli {

/// For the whole program, at its start. A SIGHUP that is ignored, as under nohup, stays ignored.
void install_interrupt_handler();

/// Raised by the first request to end while an Interruptible lives.
[[nodiscard]] const std::atomic<bool> &interrupt_requested();

/// While it lives, what runs can be asked to end with what it has.
class Interruptible {
public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;
};

} // namespace duplex::cli
