#include "cli/interrupt.hpp"

#include <csignal>
#include <cstdint>
#include <ctime>

namespace duplex::cli {

namespace {

std::atomic<bool> requested{false};
std::atomic<std::int64_t> first_request{0}; ///< in milliseconds
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

std::int64_t now_in_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now); // which a handler may call
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

/// A second request ends the program at once, unless it is the echo of the first: `timeout` signals the process and
/// then its group.
extern "C" void request_interrupt(int signal) {
  constexpr std::int64_t echo = 200;
  const std::int64_t now = now_in_milliseconds();
  std::int64_t first = 0;
  if (first_request.compare_exchange_strong(first, now)) {
    requested.store(true);
  } else if (now - first > echo) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

} // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, request_interrupt);
  std::signal(SIGTERM, request_interrupt);
}

void restore_default_interrupts() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool> &interrupt_requested() { return requested; }

} // namespace duplex::cli
