#pragma once
// How a governed run opens where the scale of x is known. Far from a solution an exact hypergradient is wasted: y, v
// and x move together, each a step at a time, and no step needs tuning.
//
//   y, v   by Anderson mixing, β = η = 1.5/λ: λ is the largest curvature of the lower level, by power iterations at the
//          start and, a few times at most, where the lower gradient grew
//   x      by Adam, whose step is a change of its entries: a tenth of their scale
//
// It is over after a hundred steps, when x may have moved by ten times its scale, or when d turns back. Where d runs
// away instead, to a hundred times the first, the run goes back to its start.

#include <duplex/curvature.hpp>
#include <duplex/governed/rules.hpp>
#include <duplex/problem.hpp>
#include <duplex/stepsize.hpp>
#include <duplex/summary.hpp>
#include <duplex/upper_rule.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace duplex::governed {

enum class OpeningEnd : std::uint8_t { not_yet, turned, long_enough, ran_away, no_curvature };

template <VectorSpace V> class Opening {
public:
  Opening(double scale_of_x, const State<V> &start)
      : scale_(scale_of_x), start_(start), power_(start.y),
        move_(UpperRule{.method = UpperMethod::adam, .adam_epsilon = without_unit}, start.x),
        last_(zeros_like(start.x)) {}

  [[nodiscard]] bool over() const { return end_ != OpeningEnd::not_yet; }
  /// Where the run goes on from: its start where the opening failed.
  [[nodiscard]] const State<V> *way_back() const {
    return end_ == OpeningEnd::ran_away || end_ == OpeningEnd::no_curvature ? &start_ : nullptr;
  }
  /// Zero where there was none.
  [[nodiscard]] const V &last_good_direction() const { return last_; }
  [[nodiscard]] UpperUpdate<V> &move() { return move_; }

  /// For the next step, from the state; `restarts` is how often y's mixing has met a gradient that grew.
  template <class Lower> [[nodiscard]] StepSizes steps(Lower &lower, const State<V> &state, std::int64_t restarts) {
    if (taken_ == 0 || (restarts > restarts_ && measured_ <= rule::most_remeasurements)) {
      ++measured_;
      lower.at(state.x, state.y);
      curvature_ = std::max(curvature_, power_.largest(lower, products_for_curvature));
      restarts_ = restarts;
    }
    return {.alpha = rule::share_of_scale * scale_, .beta = lower_step(), .eta = lower_step()};
  }

  /// From the direction that x has followed.
  void learn(const V &d) {
    const double length = norm(d);
    ++taken_;
    if (!std::isfinite(length) || (first_ > 0.0 && length > rule::growth_that_restarts * first_)) {
      end_ = OpeningEnd::ran_away;
      return;
    }
    first_ = first_ > 0.0 ? first_ : length;
    turns_ = dot(d, last_) < 0.0 ? turns_ + 1 : 0;
    assign(d, last_);
    if (!(curvature_ > 0.0) || !std::isfinite(curvature_)) {
      end_ = OpeningEnd::no_curvature;
    } else if (turns_ >= rule::turns_that_end) {
      end_ = OpeningEnd::turned;
    } else if (taken_ >= rule::longest_opening) {
      end_ = OpeningEnd::long_enough;
    }
  }

  [[nodiscard]] std::string explanation() const {
    constexpr std::array<std::string_view, 5> endings{"still on", "d turned back", "long enough",
                                                      "d ran away, so that the run went back to its start",
                                                      "the lower level shows no curvature, or none that is finite"};
    return "opening: x matters in units of " + short_number(scale_) + ", so that Adam moved it in " +
           std::to_string(taken_) + " steps of " + short_number(rule::share_of_scale * scale_) +
           ", with y and v beside it by beta = eta = " + short_number(lower_step()) +
           " (the lower level's largest curvature is " + short_number(curvature_) + ") and Anderson mixing over " +
           std::to_string(rule::mixed_pairs) + " moves; " + std::string(endings.at(static_cast<std::size_t>(end_)));
  }

  template <class Archive> void archive(Archive &members) {
    members("start", start_);
    members("power", power_);
    members("move", move_);
    members("last", last_);
    members("curvature", curvature_);
    members("first", first_);
    members("taken", taken_);
    members("restarts", restarts_);
    members("measured", measured_);
    members("turns", turns_);
    auto end = static_cast<std::int64_t>(end_);
    members("end", end);
    if (end < 0 || end > static_cast<std::int64_t>(OpeningEnd::no_curvature)) {
      throw InvalidInput("'opening.end' of the saved state is " + std::to_string(end) + ", expected 0 to 4");
    }
    end_ = static_cast<OpeningEnd>(end);
  }

private:
  static constexpr double without_unit = 1e-30; ///< Adam's guard against 0/0 must not be a size of d

  [[nodiscard]] double lower_step() const { return curvature_ > 0.0 ? 2.0 * rule::share_of_stable / curvature_ : 0.0; }

  double scale_;
  State<V> start_;
  PowerIteration<V> power_;
  UpperUpdate<V> move_;
  V last_; ///< d
  double curvature_ = 0.0;
  double first_ = 0.0; ///< ‖d‖ that is not zero
  std::int64_t taken_ = 0;
  std::int64_t restarts_ = 0;
  int measured_ = 0; ///< times, of the curvature
  int turns_ = 0;    ///< in a row
  OpeningEnd end_ = OpeningEnd::not_yet;
};

} // namespace duplex::governed
