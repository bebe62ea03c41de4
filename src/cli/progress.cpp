#include "cli/progress.hpp"

#include "report/text.hpp"

#include <duplex/run/summary.hpp>

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace duplex::cli {

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::clear() {
  if (std::exchange(written_, false)) {
    (void)std::fputs("\r\x1b[K", stderr);
    (void)std::fflush(stderr);
  }
}

void StatusLine::show(const std::string &text) {
  constexpr auto interval = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - shown_ < interval) {
    return;
  }
  shown_ = now;
  written_ = true;
  winsize window{};
  constexpr int usual_width = 80;
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  const std::string line = report::elided(text, static_cast<std::size_t>((known ? window.ws_col : usual_width) - 1));
  (void)std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  (void)std::fflush(stderr);
}

ProgressLine::ProgressLine(std::string label) : label_(std::move(label)) {}

void ProgressLine::observe(const Progress<Eigen::VectorXd> &progress) {
  line_.show(fmt::format("{}: step {}, ‖d‖ = {}, {}", label_, progress.iteration, short_number(progress.direction_norm),
                         duration_text(progress.seconds)));
}

Observer<Eigen::VectorXd> *ProgressLine::if_terminal() { return line_.has_terminal() ? this : nullptr; }

} // namespace duplex::cli
