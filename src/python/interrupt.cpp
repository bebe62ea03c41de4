#include "python/interrupt.hpp"

namespace duplex::python {

namespace {

std::atomic<std::atomic<bool> *> flag_to_raise{nullptr};
struct sigaction before {}; // set before our handler can be called
static_assert(std::atomic<std::atomic<bool> *>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

extern "C" void raise_flag(int signal, siginfo_t *info, void *context) {
  if (auto *flag = flag_to_raise.load()) {
    flag->store(true);
  }
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
}

bool is_ours(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == raise_flag;
}

} // namespace

HearsInterrupt::HearsInterrupt(std::atomic<bool> &flag, bool is_main) : is_main_(is_main) {
  if (!is_main_) {
    return;
  }
  outer_ = flag_to_raise.exchange(&flag);
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  const bool is_handled = (now.sa_flags & SA_SIGINFO) != 0 || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
  if (is_handled && !is_ours(now)) {
    before = now;
    struct sigaction ours = now;
    ours.sa_sigaction = raise_flag;
    ours.sa_flags |= SA_SIGINFO;
    has_handler_ = sigaction(SIGINT, &ours, nullptr) == 0;
  }
}

HearsInterrupt::~HearsInterrupt() {
  if (!is_main_) {
    return;
  }
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  if (has_handler_ && is_ours(now)) { // unless a function of the problem has set another
    sigaction(SIGINT, &before, nullptr);
  }
  flag_to_raise.store(outer_);
}

} // namespace duplex::python
