#include "cli/interrupt.hpp"

#include "cli/command.hpp"
#include "report/files.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <unistd.h>

namespace duplex::cli {

namespace {

std::atomic<bool> requested{false};
std::atomic<std::int64_t> first_request{0}; ///< in milliseconds
std::atomic<int> interruptible_parts{0};
std::atomic<int> extensions{0};
timer_t patience_timer{};
bool has_timer = false;               ///< this and the next are set before any handler is there
long patience_in_milliseconds = 1700; ///< of the two seconds that are promised
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free &&
                  std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

// Handlers call only what POSIX lists as safe in them.

std::int64_t now_in_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

/// What a handler interrupts finds errno as it left it.
struct KeptErrno {
  KeptErrno() = default;
  KeptErrno(const KeptErrno &) = delete;
  KeptErrno &operator=(const KeptErrno &) = delete;
  ~KeptErrno() { errno = before; }
  int before = errno;
};

void say(std::string_view text) {
  const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
}

void wake_after(long milliseconds) {
  itimerspec when{};
  when.it_value.tv_sec = milliseconds / 1000;
  when.it_value.tv_nsec = milliseconds % 1000 * 1'000'000;
  if (has_timer) {
    timer_settime(patience_timer, 0, &when, nullptr);
  } else {
    alarm(static_cast<unsigned>((milliseconds + 999) / 1000)); // in whole seconds
  }
}

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A second request ends the program at once, unless it is the echo of the first: `timeout` signals the process and
/// then its group.
extern "C" void request_interrupt(int signal) {
  const KeptErrno kept;
  constexpr std::int64_t echo = 200;
  if (interruptible_parts.load() == 0) {
    end_by(signal);
    return;
  }
  const std::int64_t now = now_in_milliseconds();
  std::int64_t first = 0;
  if (first_request.compare_exchange_strong(first, now)) {
    requested.store(true);
    wake_after(patience_in_milliseconds);
  } else if (now - first > echo) {
    end_by(signal);
  }
}

extern "C" void lose_patience(int /*signal*/) {
  const KeptErrno kept;
  constexpr int most_extensions = 300; // half a minute for a file that is being written
  if (report::files_being_written().load() > 0 && extensions.fetch_add(1) < most_extensions) {
    wake_after(100);
    return;
  }
  say("duplex: did not end in time after being asked to; what was saved before stands\n");
  _exit(exit_run_failed);
}

/// DUPLEX_PATIENCE=SECONDS in the environment gives a command more than two seconds to end: where a disk is slow, or
/// many share the cores.
void read_patience() {
  constexpr double most = 1e6;
  const char *text = std::getenv("DUPLEX_PATIENCE"); // NOLINT(concurrency-mt-unsafe): there are no threads yet
  const double seconds = text == nullptr ? 0.0 : std::strtod(text, nullptr);
  if (seconds > 2.0 && seconds < most) {
    patience_in_milliseconds = static_cast<long>(1000.0 * seconds) - 300;
  }
}

} // namespace

void install_interrupt_handler() {
  read_patience();
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  has_timer = timer_create(CLOCK_MONOTONIC, &event, &patience_timer) == 0;
  std::signal(SIGALRM, lose_patience);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, request_interrupt) == SIG_IGN) { // as nohup and scripts have it for what they leave behind
      std::signal(signal, SIG_IGN);
    }
  }
}

const std::atomic<bool> &interrupt_requested() { return requested; }

Interruptible::Interruptible() { ++interruptible_parts; }
Interruptible::~Interruptible() { --interruptible_parts; }

} // namespace duplex::cli
