#pragma once
// One line on the terminal that says how far a run is. Nothing where stderr is not
// a terminal.

#include <duplex/run/observer.hpp>

#include <Eigen/Core>

#include <chrono>
#include <string>

namespace duplex::cli {

/// Text that replaces itself, at most ten times a second, and is gone at the end.
class StatusLine {
public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine &) = delete;
  StatusLine &operator=(const StatusLine &) = delete;

  [[nodiscard]] bool has_terminal() const { return terminal_; }
  void show(const std::string &text);
  /// Takes the text away, so that something else can be written.
  void clear();

private:
  std::chrono::steady_clock::time_point shown_;
  bool terminal_;
  bool written_ = false;
};

class ProgressLine final : public Observer<Eigen::VectorXd> {
public:
  explicit ProgressLine(std::string label);
  void observe(const Progress<Eigen::VectorXd> &progress) override;

  /// Null where there is no terminal to write to.
  [[nodiscard]] Observer<Eigen::VectorXd> *if_terminal();

private:
  std::string label_;
  StatusLine line_;
};

} // namespace duplex::cli
