#pragma once
// Over-fitting: the upper level's loss F goes on falling while a metric on samples that neither level sees rises.

#include <duplex/problem/problem_view.hpp>
#include <duplex/run/observer.hpp>
#include <duplex/run/summary.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace duplex::detail {

/// Keeps the state at which a metric was smallest, and counts the looks since.
template <VectorSpace V> class BestState {
public:
  BestState(const ProblemView<V> &problem, std::size_t metric, std::size_t metrics, const State<V> &start)
      : upper_(problem.upper()), metric_(metric), state_{zeros_like(start.x), zeros_like(start.y), zeros_like(start.v)},
        values_(metrics) {}

  /// A look at which F is above that of the best does not count: the run breaks, or has not come far enough.
  void learn(const Progress<V> &progress) {
    const double latest = progress.metrics[metric_];
    upper_.at(progress.state.x, progress.state.y);
    const double upper_value = upper_.value();
    if (!known() || latest < values_[metric_]) {
      values_.assign(progress.metrics.begin(), progress.metrics.end());
      assign(progress.state, state_);
      upper_value_ = upper_value;
      iteration_ = progress.iteration;
      direction_norm_ = progress.direction_norm;
      looks_since_ = 0;
    } else if (upper_value <= upper_value_) {
      ++looks_since_;
    }
  }

  [[nodiscard]] std::int64_t looks_since() const { return looks_since_; }
  /// After a recovery.
  void start_anew() { looks_since_ = 0; }
  [[nodiscard]] bool known() const { return iteration_ > 0 && std::isfinite(values_[metric_]); }
  [[nodiscard]] bool is_better_than(const std::vector<double> &values) const {
    return known() && !(values[metric_] <= values_[metric_]);
  }

  /// Puts the state and what was measured of it back, and says so.
  [[nodiscard]] std::string restore(State<V> &state, double &direction_norm, std::vector<double> &values,
                                    const std::string &name) const {
    const double now = values[metric_];
    assign(state_, state);
    values = values_;
    direction_norm = direction_norm_;
    return name + " was smallest, " + short_number(values_[metric_], 6) + ", at step " + std::to_string(iteration_) +
           " and is " + short_number(now, 6) + " now: the state is that of step " + std::to_string(iteration_);
  }

  template <class Archive> void archive(Archive &members) {
    members("state", state_);
    members("iteration", iteration_);
    members("direction norm", direction_norm_);
    members("upper", upper_value_);
    members("looks since", looks_since_);
    members("values", std::span<double>(values_));
  }

private:
  AnyUpper<V> upper_;
  std::size_t metric_;
  State<V> state_;
  std::vector<double> values_;
  double upper_value_ = 0.0;
  std::int64_t iteration_ = 0;
  double direction_norm_ = 0.0;
  std::int64_t looks_since_ = 0;
};

} // namespace duplex::detail
