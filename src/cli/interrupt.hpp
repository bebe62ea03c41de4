#pragma once
// Ctrl-C and SIGTERM ask the run to end with what it has; a second one ends it at once.

#include <atomic>

namespace duplex::cli {

void install_interrupt_handler();
/// For commands that have nothing to save: Ctrl-C ends them at once.
void restore_default_interrupts();
[[nodiscard]] const std::atomic<bool> &interrupt_requested();

} // namespace duplex::cli
