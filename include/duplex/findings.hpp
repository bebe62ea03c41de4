#pragma once
// What broke a run, and which step is to blame: looked up where it ends or goes back, off its clock and outside its
// counters. Where the run has kept a good state the steps are judged there, not where they have thrown it.

#include <duplex/curvature.hpp>
#include <duplex/problem.hpp>
#include <duplex/residual.hpp>
#include <duplex/stepsize.hpp>
#include <duplex/summary.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace duplex {

/// What broke, and what may mend it. Both may be empty.
struct Finding {
  std::string what;        ///< such as "lower level: y is not finite"
  std::string remedy;      ///< such as "a smaller beta"
  std::string blamed = {}; ///< the solver's option that is to blame, such as "beta"
  std::string reason = {}; ///< for that blame
  bool guessed = false;    ///< the blame is, from where the run went; otherwise the step was measured
  double right_step = 0.0; ///< where that was measured too

  [[nodiscard]] bool found() const { return !what.empty(); }
  [[nodiscard]] std::string at_step(std::int64_t step) const;
};

/// A run that knows where y was when its last step took ∇y f there: null where that is lost.
template <class R, class V>
concept KnowsLowerPoint = requires(const R &run) {
  { run.lower_point() } -> std::convertible_to<const V *>;
};

template <class V, class R> [[nodiscard]] const V *lower_point_of(const R &run) {
  if constexpr (KnowsLowerPoint<R, V>) {
    return run.lower_point();
  } else {
    return nullptr;
  }
}

template <class S> [[nodiscard]] bool searches_multiplier_step(const S &solver) {
  if constexpr (requires {
                  { solver.dual } -> std::convertible_to<DualStep>;
                }) {
    return solver.dual != DualStep::constant;
  } else {
    return false;
  }
}

/// With "a smaller beta" for its remedy where the solver has such an option.
template <class S> [[nodiscard]] Finding blaming(const S &solver, std::string_view step, std::string what) {
  if (chooses_its_steps(solver)) {
    return {std::move(what), "a larger tolerance, or steps of your own"};
  }
  bool known = false;
  S::fields(solver, [&](std::string_view field, const auto &...) { known |= field == step; });
  return known ? Finding{std::move(what), "a smaller " + std::string(step), std::string(step)}
               : Finding{std::move(what), "smaller steps"};
}

/// The multiplier's step: η, the cap of a line search on it, that of a series, or, where a method has none of them, β.
template <class S> [[nodiscard]] std::string_view multiplier_step(const S &solver) {
  if constexpr (requires { solver.eta; }) {
    return searches_multiplier_step(solver) ? "eta-cap" : "eta";
  } else if constexpr (requires { solver.series_step; }) {
    return solver.series_step > 0.0 ? "series-step" : "beta";
  } else {
    return "beta";
  }
}

namespace detail {

/// The value NaN, or a gradient that is not finite; a value that is too large alone stops no method.
[[nodiscard]] std::string broken_loss(const std::string &loss, double value, bool gradients_finite);

template <class Look> [[nodiscard]] std::string at_level(const std::string &level, const Look &look) {
  std::string what;
  try {
    what = look();
  } catch (const std::exception &refused) {
    what = "its loss is refused (" + std::string(refused.what()) + ")";
  }
  return what.empty() ? what : level + " level: " + what;
}

/// What of f is not finite at a finite point; empty where all is.
template <SecondOrderProblem P>
[[nodiscard]] std::string broken_lower_level(const P &problem, const VectorOf<P> &x, const VectorOf<P> &y) {
  return at_level("lower", [&] {
    auto lower = problem.lower();
    lower.at(x, y);
    auto like_y = zeros_like(y);
    lower.grad_y(like_y);
    std::string broken = broken_loss("f", lower.value(), all_finite(like_y));
    if (broken.empty()) { // in a direction of moderate size
      std::mt19937_64 generator(1);
      auto direction = zeros_like(y);
      fill_normal(generator, direction);
      auto like_x = zeros_like(x);
      lower.hess_yy(direction, like_y);
      lower.cross_xy(direction, like_x);
      if (!all_finite(like_y) || !all_finite(like_x)) {
        broken = "the second derivatives of f are not finite";
      }
    }
    return broken;
  });
}

template <SecondOrderProblem P>
[[nodiscard]] std::string broken_upper_level(const P &problem, const VectorOf<P> &x, const VectorOf<P> &y) {
  return at_level("upper", [&] {
    auto upper = problem.upper();
    upper.at(x, y);
    auto like_x = zeros_like(x);
    auto like_y = zeros_like(y);
    upper.grad_x(like_x);
    upper.grad_y(like_y);
    return broken_loss("F", upper.value(), all_finite(like_x) && all_finite(like_y));
  });
}

} // namespace detail

/// Norms at a run's start, against which growth is judged.
struct StartNorms {
  double x = 0.0;
  double y = 0.0;
  double v = 0.0;
  double d = 0.0; ///< of the first step

  template <class Archive> void archive(Archive &members) {
    members("x", x);
    members("y", y);
    members("v", v);
    members("d", d);
  }

  template <VectorSpace V> [[nodiscard]] static StartNorms of(const State<V> &state) {
    return {norm(state.x), norm(state.y), norm(state.v), 0.0};
  }
};

inline constexpr double step_cut = 0.1; ///< what a recovery makes of a step that is to blame

/// Where a run is when it is asked why.
template <VectorSpace V> struct RunPoint {
  const State<V> *state = nullptr;
  const State<V> *good = nullptr; ///< the last that seemed to be, or the start; null where none is kept
  const V *lower_point = nullptr; ///< where the last step took ∇y f; null where that is lost
  StepSizes steps = {};           ///< of the last step
  StartNorms start = {};
  double direction = 0.0; ///< ‖d‖
  std::int64_t step = 0;
};

namespace detail {

/// A step of y or v that is not below a bound over λ_max(∇²yy f).
struct LongStep {
  std::string_view variable = {};
  std::string_view name = {};
  double step = 0.0;
  double curvature = 0.0;

  [[nodiscard]] bool found() const { return !name.empty(); }
  [[nodiscard]] std::string text(const std::string &how) const {
    return "the steps of " + std::string(variable) + " are " + how + ", " + std::string(name) + " = " +
           short_number(step) + " with 2/λ = " + short_number(2.0 / curvature) + " for the lower level's curvature λ";
  }
};

inline constexpr double stable = 2.0; ///< gradient descent bears steps below that over λ

template <SecondOrderProblem P, class S>
[[nodiscard]] LongStep long_step_at(const P &problem, const S &solver, const StepSizes &steps, const VectorOf<P> &x,
                                    const VectorOf<P> &y, double bound) {
  double curvature = 0.0;
  try {
    curvature = (1.0 - steps.mu) * largest_curvature(problem, x, y);
  } catch (const std::exception &) { // a loss that refuses this point: growth alone must tell
  }
  if (steps.beta * curvature >= bound) {
    return {"y", "beta", steps.beta, curvature};
  }
  if (steps.eta * curvature >= bound && !searches_multiplier_step(solver)) {
    return {"v", multiplier_step(solver), steps.eta, curvature};
  }
  return {};
}

/// Gradient descent on f with x held.
template <SecondOrderProblem P> class DescentWithXHeld {
public:
  DescentWithXHeld(const P &problem, const VectorOf<P> &x, const VectorOf<P> &y, double beta)
      : lower_(problem.lower()), x_(&x), beta_(beta), y_(y), gradient_(zeros_like(y)) {}

  /// Whether y stays where `sound` holds in some steps, the moves of which do not grow. False where a loss refuses.
  template <class Sound> [[nodiscard]] bool stays(const Sound &sound) {
    constexpr int some_steps = 64;
    constexpr double much_larger = 10.0;
    try {
      double largest = std::sqrt(precision(y_)) * norm(y_); // moves that are nothing beside y
      for (int i = 0; i < some_steps; ++i) {
        const double move = step();
        if (i == 0) {
          largest = much_larger * std::max(largest, move);
        }
        if (!(move <= largest) || !all_finite(y_) || !sound(*x_, y_)) {
          return false;
        }
      }
      return true;
    } catch (const std::exception &) {
      return false;
    }
  }

private:
  /// The length of the move.
  double step() {
    lower_.at(*x_, y_);
    lower_.grad_y(gradient_);
    axpy(-beta_, gradient_, y_);
    return beta_ * norm(gradient_);
  }

  LowerOf<P> lower_;
  const VectorOf<P> *x_;
  double beta_;
  VectorOf<P> y_;
  VectorOf<P> gradient_;
};

[[nodiscard]] inline Finding as_a_guess(Finding finding) {
  finding.guessed = true;
  return finding;
}

} // namespace detail

/// Of a y that ran away although its steps are right by the curvature where it was good: on itself where it does so
/// with x held as well, or where a tenth of its steps would do at the new x; otherwise on x.
template <SecondOrderProblem P, class S>
[[nodiscard]] Finding who_moved_y(const P &problem, const S &solver, const RunPoint<VectorOf<P>> &run) {
  const auto stays = [&](const VectorOf<P> &x, double beta) {
    return detail::DescentWithXHeld<P>(problem, x, run.good->y, beta)
        .stays([](const VectorOf<P> &, const VectorOf<P> &) { return true; });
  };
  const double beta = run.steps.beta;
  if (!stays(run.good->x, beta)) {
    return blaming(solver, "beta", "y does not stay even where x does");
  }
  if (all_finite(run.state->x) && !stays(run.state->x, beta) && stays(run.state->x, step_cut * beta)) {
    return detail::as_a_guess(blaming(solver, "beta", "y does not stay where x went"));
  }
  return detail::as_a_guess(blaming(solver, "alpha", "y cannot follow x"));
}

/// y or v, where their steps are longer than gradient descent bears: β or η not below 2/λ_max(∇²yy f); or x, where its
/// steps took it, or y, to where they are.
template <SecondOrderProblem P, class S>
[[nodiscard]] Finding find_too_long_step(const P &problem, const S &solver, const RunPoint<VectorOf<P>> &run) {
  constexpr double hardly_stable = 1.5;
  const auto at = [&](const VectorOf<P> &x, const VectorOf<P> &y, double bound = detail::stable) {
    return detail::long_step_at(problem, solver, run.steps, x, y, bound);
  };
  if (run.good == nullptr) {
    const auto found = at(run.state->x, run.state->y);
    return found.found() && std::isfinite(found.curvature) ? blaming(solver, found.name, found.text("too long"))
                                                           : Finding{};
  }
  if (const auto found = at(run.good->x, run.good->y); found.found()) {
    auto cause = blaming(solver, found.name, found.text("too long"));
    // A series with a much smaller step would be another one; y and v may yet come to where λ is larger.
    cause.right_step =
        found.name == "series-step" ? 1.0 / found.curvature : std::min(step_cut * found.step, 0.5 / found.curvature);
    return cause;
  }
  if (const auto found = at(run.state->x, run.good->y); found.found()) {
    if (const auto hardly = at(run.good->x, run.good->y, hardly_stable); hardly.found()) {
      return blaming(solver, hardly.name, hardly.text("too long where x went, and hardly short enough before"));
    }
    if (step_cut * found.step * found.curvature < detail::stable) { // x may well belong there
      return blaming(solver, found.name, found.text("too long where x went"));
    }
    return detail::as_a_guess(
        blaming(solver, "alpha",
                "x ran to where the lower level's curvature is " +
                    (std::isfinite(found.curvature) ? short_number(found.curvature) : "not finite") +
                    ", too large for " + std::string(found.name) + " = " + short_number(found.step)));
  }
  return all_finite(run.state->y) && at(run.state->x, run.state->y).found() ? who_moved_y(problem, solver, run)
                                                                            : Finding{};
}

namespace detail {

/// A loss that is broken where the run is: by x's steps where x alone breaks it, or where y stays as long as x does; by
/// y's where it does not.
template <SecondOrderProblem P, class S, class Look>
[[nodiscard]] Finding who_broke(const P &problem, const S &solver, const RunPoint<VectorOf<P>> &run,
                                const VectorOf<P> &y, const Look &look) {
  std::string broken = look(run.state->x, y);
  if (broken.empty() || run.good == nullptr || !look(run.good->x, run.good->y).empty()) {
    return {std::move(broken), {}};
  }
  const auto is_sound = [&](const VectorOf<P> &x, const VectorOf<P> &at) { return look(x, at).empty(); };
  const bool by_x = !is_sound(run.state->x, run.good->y) ||
                    DescentWithXHeld<P>(problem, run.good->x, run.good->y, run.steps.beta).stays(is_sound);
  return by_x ? as_a_guess(blaming(solver, "alpha", std::move(broken))) : blaming(solver, "beta", std::move(broken));
}

} // namespace detail

/// What is not finite after a step: with y⁺, v⁺ and d from x in that order, the first of them, unless a loss broke it.
/// `x_was_moved` says whether x has already followed a direction that may be at fault.
template <SecondOrderProblem P, class S>
[[nodiscard]] Finding find_first_not_finite(const P &problem, const S &solver, const RunPoint<VectorOf<P>> &run,
                                            bool x_was_moved) {
  using V = VectorOf<P>;
  const State<V> &state = *run.state;
  const auto lower = [&](const V &x, const V &y) { return detail::broken_lower_level(problem, x, y); };
  const auto upper = [&](const V &x, const V &y) { return detail::broken_upper_level(problem, x, y); };
  const bool x_is_finite = all_finite(state.x);
  const Finding x_broke = blaming(solver, "alpha", "upper level: x is not finite");
  if (!x_is_finite && !x_was_moved) {
    return x_broke;
  }
  if (!all_finite(state.y)) {
    if (x_is_finite && run.lower_point != nullptr && all_finite(*run.lower_point)) {
      if (auto broken = detail::who_broke(problem, solver, run, *run.lower_point, lower); broken.found()) {
        return broken;
      }
    }
    return blaming(solver, "beta", "lower level: y is not finite");
  }
  if (x_is_finite) {
    if (auto broken = detail::who_broke(problem, solver, run, state.y, lower); broken.found()) {
      return broken;
    }
    if (auto broken = detail::who_broke(problem, solver, run, state.y, upper); broken.found()) {
      return broken;
    }
  }
  if (!all_finite(state.v)) {
    return blaming(solver, multiplier_step(solver), "multiplier v is not finite");
  }
  return x_is_finite ? Finding{} : x_broke;
}

/// The same, with the blame on a step that is known to be too long where the run has kept a good state to measure at.
template <SecondOrderProblem P, class S>
[[nodiscard]] Finding find_not_finite(const P &problem, const S &solver, const RunPoint<VectorOf<P>> &run,
                                      bool x_was_moved) {
  Finding found = find_first_not_finite(problem, solver, run, x_was_moved);
  if (found.found() && run.good != nullptr && !chooses_its_steps(solver)) {
    auto cause = find_too_long_step(problem, solver, run);
    if (!cause.found() && found.blamed == "beta" && !all_finite(run.state->y)) {
      cause = who_moved_y(problem, solver, run);
    }
    if (cause.found()) {
      cause.reason = std::exchange(cause.what, std::move(found.what));
      return cause;
    }
  }
  return found;
}

/// The step that lets v grow where none is too long: its own or, where v is computed anew in every step, that of x,
/// which it follows.
template <class S> [[nodiscard]] std::string_view step_that_lets_multiplier_grow(const S &solver) {
  if constexpr (requires { solver.eta; }) {
    return multiplier_step(solver);
  } else {
    return "alpha";
  }
}

/// What of y, v, x and d grew most, each over max(1, its norm at the start); in a tie what a step computes first.
template <class S, VectorSpace V> [[nodiscard]] Finding find_most_grown(const S &solver, const RunPoint<V> &run) {
  struct Part {
    std::string name;
    double start;
    double now;
    std::string_view step;
  };
  const std::array<Part, 4> parts{Part{"y", run.start.y, norm(run.state->y), "beta"},
                                  Part{"v", run.start.v, norm(run.state->v), step_that_lets_multiplier_grow(solver)},
                                  Part{"x", run.start.x, norm(run.state->x), "alpha"},
                                  Part{"d", run.start.d, run.direction, ""}};
  const auto most = std::max_element(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    return a.now / std::max(1.0, a.start) < b.now / std::max(1.0, b.start);
  });
  if (most->name == "d" || !std::isfinite(most->now)) {
    return {};
  }
  return blaming(solver, most->step, most->name + " grew most, to " + short_number(most->now));
}

/// Whether v is about what it is to be: ‖∇yF − ∇²yy f·v‖ well below its terms. Then it is not v that runs away.
template <SecondOrderProblem P>
[[nodiscard]] bool multiplier_follows(const P &problem, const State<VectorOf<P>> &state) {
  constexpr double well_below = 0.5;
  try {
    KktResidual<P> residual(problem);
    const double block = residual.at(state.x, state.y, state.v).multiplier;
    return block < well_below * residual.terms().multiplier;
  } catch (const std::exception &) { // a loss that refuses this point
    return false;
  }
}

} // namespace duplex
