#include "cli/progress.hpp"

#include <duplex/summary.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace duplex::cli {

ProgressLine::ProgressLine(std::string label) : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (written_) {
    fmt::print(stderr, "\r\x1b[K");
  }
}

void ProgressLine::observe(const Progress<Eigen::VectorXd> &progress) {
  constexpr auto interval = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < interval) {
    return;
  }
  shown_ = now;
  written_ = true;
  fmt::print(stderr, "\r{}: step {}, ‖d‖ = {}, {}\x1b[K", label_, progress.iteration,
             short_number(progress.direction_norm), duration_text(progress.seconds));
  std::fflush(stderr);
}

Observer<Eigen::VectorXd> *ProgressLine::if_terminal() { return terminal_ ? this : nullptr; }

} // namespace duplex::cli
