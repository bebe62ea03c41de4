#include "cli/progress.hpp"

#include <duplex/summary.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace duplex::cli {

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() {
  if (written_) {
    (void)std::fputs("\r\x1b[K", stderr);
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
  (void)std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  (void)std::fflush(stderr);
}

ProgressLine::ProgressLine(std::string label) : label_(std::move(label)) {}

void ProgressLine::observe(const Progress<Eigen::VectorXd> &progress) {
  line_.show(fmt::format("{}: step {}, ‖d‖ = {}, {}", label_, progress.iteration, short_number(progress.direction_norm),
                         duration_text(progress.seconds)));
}

Observer<Eigen::VectorXd> *ProgressLine::if_terminal() { return line_.has_terminal() ? this : nullptr; }

} // namespace duplex::cli
