#pragma once
// One line on the terminal that says how far a run is. Nothing where stderr is not
// a terminal.

#include <duplex/observer.hpp>

#include <Eigen/Core>

#include <chrono>
#include <string>

namespace duplex::cli {

class ProgressLine final : public Observer<Eigen::VectorXd> {
public:
  explicit ProgressLine(std::string label);
  ~ProgressLine() override;
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  void observe(const Progress<Eigen::VectorXd> &progress) override;

  /// Null where there is no terminal to write to.
  [[nodiscard]] Observer<Eigen::VectorXd> *if_terminal();

private:
  std::string label_;
  std::chrono::steady_clock::time_point shown_;
  bool terminal_;
  bool written_ = false;
};

} // namespace duplex::cli
