#pragma once
// Early stopping on a metric of samples that neither level sees (Monitor::hold_out): the run ends where the metric no
// longer falls, and goes back to the state at which it was smallest. There are two rules for that end. The plain one:
// no new minimum for `patience` measurements, while the upper level's loss F is no larger than at the smallest. With
// least_improvement > 0: the metric is above (1 - least_improvement) times what it was `patience` measurements before.
//
// A metric that is not finite, or rises by more than relative_rise·|m| + absolute_rise above the smallest m since the
// run began or recovered, says that the run has broken.

#include <duplex/core/fields.hpp>
#include <duplex/core/text.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/run/observer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace duplex::detail {

template <VectorSpace V> class EarlyStopping {
public:
  /// The metric is the one at that place of so many. Throws InvalidInput where the rule is wrong.
  EarlyStopping(const ProblemView<V> &problem, const HoldOut &rule, std::size_t metric, std::size_t metrics,
                const State<V> &start)
      : rule_(rule), metric_(metric), best_{zeros_like(start.x), zeros_like(start.y), zeros_like(start.v)},
        values_(metrics) {
    require("patience", rule.patience, Bound{.low = 1.0, .high = has_window() ? longest_window : infinity});
    require("least improvement", rule.least_improvement, below_one);
    require("relative rise", rule.relative_rise, non_negative);
    require("absolute rise", rule.absolute_rise, finite_non_negative);
    if (!has_window()) {
      upper_.emplace(problem.upper());
    }
  }

  /// F at a state, where the rule asks for it.
  [[nodiscard]] double upper_value_at(const State<V> &state) {
    if (!upper_) {
      return infinity;
    }
    upper_->at(state.x, state.y);
    return upper_->value();
  }

  /// Is told of a look, with F there. By the plain rule, one at which F is above that of the best does not count: the
  /// run breaks, or has not come far enough.
  void learn(const Progress<V> &progress, double upper_value) {
    const double latest = progress.metrics[metric_];
    if (!known() || latest < values_[metric_]) {
      values_.assign(progress.metrics.begin(), progress.metrics.end());
      assign(progress.state, best_);
      upper_value_ = upper_value;
      has_best_ = true;
      iteration_ = progress.iteration;
      direction_norm_ = progress.direction_norm;
      looks_since_ = 0;
    } else if (upper_value <= upper_value_) {
      ++looks_since_;
    }
    remember(latest);
  }

  /// Whether the run is to end at the last look.
  [[nodiscard]] bool is_met() const {
    if (!has_window()) {
      return looks_since_ >= rule_.patience;
    }
    return !has_broken() && static_cast<std::int64_t>(recent_.size()) > rule_.patience &&
           recent_.back() > recent_.front() - rule_.least_improvement * std::abs(recent_.front());
  }
  /// Whether the run has broken at the last look.
  [[nodiscard]] bool has_broken() const {
    if (!rule_.sees_breaks() || recent_.empty()) {
      return false;
    }
    const double most = smallest_ + rule_.relative_rise * std::abs(smallest_) + rule_.absolute_rise;
    return !std::isfinite(recent_.back()) || recent_.back() > most;
  }
  [[nodiscard]] std::string text_of_break() const {
    const std::string latest = std::isfinite(recent_.back()) ? short_number(recent_.back(), 6) : "not finite";
    return std::isfinite(smallest_) ? rule_.metric + " was " + short_number(smallest_, 6) + " and is " + latest
                                    : rule_.metric + " is " + latest;
  }

  /// After a recovery: the best state stays, all else is measured by what follows.
  void start_anew() {
    looks_since_ = 0;
    recent_.clear();
    smallest_ = infinity;
  }

  [[nodiscard]] bool known() const { return has_best_ && std::isfinite(values_[metric_]); }
  [[nodiscard]] bool is_better_than(const std::vector<double> &values) const {
    return known() && !(values[metric_] <= values_[metric_]);
  }
  [[nodiscard]] const State<V> &best() const { return best_; }
  /// The step of the best state; none where no state was good.
  [[nodiscard]] std::optional<std::int64_t> best_iteration() const {
    return known() ? std::optional<std::int64_t>(iteration_) : std::nullopt;
  }

  /// Puts the best state and what was measured of it back, and says so.
  [[nodiscard]] std::string restore(State<V> &state, double &direction_norm, std::vector<double> &values) const {
    const double now = values[metric_];
    assign(best_, state);
    values = values_;
    direction_norm = direction_norm_;
    return rule_.metric + " was smallest, " + short_number(values_[metric_], 6) + ", at step " +
           std::to_string(iteration_) + " and is " + short_number(now, 6) + " now: the state is that of step " +
           std::to_string(iteration_);
  }

  template <class Archive> void archive(Archive &members) {
    members("state", best_);
    members("iteration", iteration_);
    members("has best", has_best_);
    members("direction norm", direction_norm_);
    members("upper", upper_value_);
    members("looks since", looks_since_);
    members("values", std::span<double>(values_));
    if (remembers() && members.offers("recent count")) { // a run that goes on may be given this rule only now
      members.resized("recent", recent_, looks_to_remember(), [] { return 0.0; });
      members("smallest", smallest_);
    }
  }

private:
  static constexpr double longest_window = 1e6; ///< All looks of it are kept.

  template <class T> static void require(const std::string &option, T value, const Bound &bound) {
    if (!bound.holds(static_cast<double>(value))) {
      throw InvalidInput("monitor: the " + option + " of the hold-out is " + field_text(value) + ", expected " +
                         accepted_text<T>(bound));
    }
  }

  [[nodiscard]] bool has_window() const { return rule_.least_improvement > 0.0; }
  [[nodiscard]] bool remembers() const { return has_window() || rule_.sees_breaks(); }
  [[nodiscard]] std::size_t looks_to_remember() const {
    return has_window() ? static_cast<std::size_t>(rule_.patience) + 1 : 1;
  }

  void remember(double latest) {
    if (!remembers()) {
      return;
    }
    if (recent_.size() == looks_to_remember()) {
      recent_.erase(recent_.begin());
    }
    recent_.push_back(latest);
    if (std::isfinite(latest)) {
      smallest_ = std::min(smallest_, latest);
    }
  }

  HoldOut rule_;
  std::optional<AnyUpper<V>> upper_; ///< F, which the plain rule asks for.
  std::size_t metric_;
  State<V> best_;
  std::vector<double> values_; ///< All metrics at the best state.
  double upper_value_ = 0.0;   ///< F at the best state.
  bool has_best_ = false;
  std::int64_t iteration_ = 0; ///< the step of the best state
  double direction_norm_ = 0.0;
  std::int64_t looks_since_ = 0; ///< Looks that count since the best.
  std::vector<double> recent_;   ///< The metric at the last looks since the run began or recovered.
  double smallest_ = infinity;   ///< The smallest of the metric since then.
};

} // namespace duplex::detail
