#pragma once
// How an automatic run opens where the scale of x is known. Far from a solution an exact hypergradient is wasted: y, v
// and x move together, each a step at a time, and no step needs tuning.
//
//   y, v   by Anderson mixing, β = η = 1.5/λ: λ is the largest curvature of the lower level, by power iterations at the
//          start and, a few times at most, where the lower gradient grew
//   x      by Adam, whose step is a change of its entries: a tenth of their scale
//
// It is over after a hundred steps, when x may have moved by ten times its scale, or when d turns back. Where d runs
// away instead, to a hundred times the first, the run goes back to its start.

#include <duplex/core/text.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/tracked_curvature.hpp>
#include <duplex/methods/bagdc.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace duplex::automatic {

enum class OpeningEnd : std::uint8_t { not_yet, turned, long_enough, ran_away, no_curvature };

template <SecondOrderProblem P> class Opening {
public:
  using V = VectorOf<P>;

  Opening(const P &problem, double scale_of_x, bool fused, const State<V> &start)
      : scale_(scale_of_x), start_(start), curvature_(problem, start.y),
        bagdc_(method(scale_of_x, fused), problem, start),
        move_(UpperRule{.method = UpperMethod::adam, .adam_epsilon = without_unit}, start.x, box_of(problem)),
        last_(zeros_like(start.x)) {}

  [[nodiscard]] bool over() const { return end_ != OpeningEnd::not_yet; }
  /// d of the last step; where the opening failed, the last that was good, or zero.
  [[nodiscard]] const V &direction() const { return went_back() ? last_ : bagdc_.direction(); }

  /// One step of Algorithm 1. Where the opening fails, the state is where it began.
  StepReport step(State<V> &s) {
    curvature_.update(s, bagdc_.y_mover().mixing()->restarts());
    StepReport report = bagdc_.step_by({.alpha = upper_step(), .beta = lower_step(), .eta = lower_step()}, s, move_);
    report.tentative = true;
    learn(bagdc_.direction());
    if (went_back()) {
      s = start_;
      report.moved_x = true;
    } else if (!std::exchange(report.moved_x, true)) {
      move_.apply(report.steps.alpha, bagdc_.direction(), s.x);
    }
    return report;
  }

  [[nodiscard]] std::string explanation() const {
    constexpr std::array<std::string_view, 5> endings{"still on", "d turned back", "long enough",
                                                      "d ran away, so that the run went back to its start",
                                                      "the lower level shows no curvature, or none that is finite"};
    return "opening: x matters in units of " + short_number(scale_) + ", so that Adam moved it in " +
           std::to_string(taken_) + " steps of " + short_number(upper_step()) +
           ", with y and v beside it by beta = eta = " + short_number(lower_step()) +
           " (the lower level's largest curvature is " + short_number(curvature_.largest()) +
           ") and Anderson mixing over " + std::to_string(rule::mixed_pairs) + " moves; " +
           std::string(endings.at(static_cast<std::size_t>(end_)));
  }

  template <class Archive> void archive(Archive &members) {
    members("start", start_);
    members("bagdc", bagdc_);
    members("move", move_);
    members("last", last_);
    members("curvature", curvature_);
    members("first", first_);
    members("taken", taken_);
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

  /// Its steps are those that each step_by() is given.
  [[nodiscard]] static Bagdc method(double scale_of_x, bool fused) {
    return {.alpha = rule::share_of_scale * scale_of_x,
            .beta = 1.0,
            .dual = DualStep::constant,
            .mixing = rule::mixed_pairs,
            .fused = fused};
  }

  [[nodiscard]] double upper_step() const { return rule::share_of_scale * scale_; }
  [[nodiscard]] double lower_step() const {
    const double largest = curvature_.largest();
    return largest > 0.0 ? 2.0 * rule::share_of_stable / largest : 0.0;
  }
  [[nodiscard]] bool went_back() const { return end_ == OpeningEnd::ran_away || end_ == OpeningEnd::no_curvature; }

  /// From the direction that x follows.
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
    if (!(curvature_.largest() > 0.0) || !std::isfinite(curvature_.largest())) {
      end_ = OpeningEnd::no_curvature;
    } else if (turns_ >= rule::turns_that_end) {
      end_ = OpeningEnd::turned;
    } else if (taken_ >= rule::longest_opening) {
      end_ = OpeningEnd::long_enough;
    }
  }

  double scale_;
  State<V> start_;
  TrackedCurvature<P> curvature_; ///< of the lower level
  Bagdc::Run<P> bagdc_;
  UpperUpdate<V> move_;
  V last_;             ///< d
  double first_ = 0.0; ///< ‖d‖ that is not zero
  std::int64_t taken_ = 0;
  int turns_ = 0; ///< in a row
  OpeningEnd end_ = OpeningEnd::not_yet;
};

} // namespace duplex::automatic
