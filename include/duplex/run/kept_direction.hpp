#pragma once
// An observer that keeps the direction of the last step, which is always observed:
//
//   KeptDirection<Eigen::VectorXd> kept(method.traits().penalizes);
//   monitor.observers = {&kept};
//   const Summary summary = solve(problem, method, state, options, monitor);
//   std::cout << certify(problem, start, state, {}, kept.last()).text();

#include <duplex/measure/last_direction.hpp>
#include <duplex/run/observer.hpp>

#include <optional>

namespace duplex {

template <class V> class KeptDirection final : public Observer<V> {
public:
  /// What LastDirection says of the method and its steps.
  explicit KeptDirection(bool without_second_derivatives = false, bool of_sample = false)
      : without_second_derivatives_(without_second_derivatives), of_sample_(of_sample) {}

  void observe(const Progress<V> &progress) override {
    if (progress.iteration > 0) { // at the start there was no step
      last_.emplace(LastDirection<V>{progress.previous_x, progress.direction, without_second_derivatives_, of_sample_});
    }
  }

  /// None where no step was done.
  [[nodiscard]] const std::optional<LastDirection<V>> &last() const { return last_; }

private:
  bool without_second_derivatives_;
  bool of_sample_;
  std::optional<LastDirection<V>> last_;
};

} // namespace duplex
