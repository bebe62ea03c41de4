#include "cli/interrupt.hpp"

#include <csignal>

namespace duplex::cli {

namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void request_interrupt(int signal) {
  requested.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);
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
