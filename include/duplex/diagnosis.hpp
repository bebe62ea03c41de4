#pragma once
// Why a run broke: looked up once, after its last step, off its clock and outside its counters. With y⁺, v⁺ and d from
// x in that order, the first of them that is not finite is what broke, unless a loss broke it.

#include <duplex/curvature.hpp>
#include <duplex/drift.hpp>
#include <duplex/linear.hpp>
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

  [[nodiscard]] bool found() const { return !what.empty(); }
  [[nodiscard]] std::string at_step(std::int64_t step) const {
    return what + " at step " + std::to_string(step) + (remedy.empty() ? "" : "; try " + remedy);
  }
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

/// The multiplier's step: η, the cap of a line search on it, or, where a method has neither, β.
template <class S> [[nodiscard]] std::string_view multiplier_step(const S &solver) {
  if constexpr (requires { solver.eta; }) {
    return searches_multiplier_step(solver) ? "eta-cap" : "eta";
  } else {
    return "beta";
  }
}

namespace detail {

/// The value NaN, or a gradient that is not finite; a value that is too large alone stops no method.
[[nodiscard]] inline std::string broken_loss(const std::string &loss, double value, bool gradients_finite) {
  if (std::isnan(value)) {
    return "the loss " + loss + " is NaN";
  }
  if (gradients_finite) {
    return {};
  }
  return std::isfinite(value) ? "the gradient of " + loss + " is not finite" : "the loss " + loss + " is infinite";
}

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

/// What is not finite after a step. `lower_point` is where the step took ∇y f, or null; `x_was_moved` says whether x
/// has already followed a direction that may be at fault.
template <SecondOrderProblem P, class S>
[[nodiscard]] Finding find_not_finite(const P &problem, const S &solver, const State<VectorOf<P>> &state,
                                      const VectorOf<P> *lower_point, bool x_was_moved) {
  const bool x_is_finite = all_finite(state.x);
  const Finding x_broke = blaming(solver, "alpha", "upper level: x is not finite");
  if (!x_is_finite && !x_was_moved) {
    return x_broke;
  }
  if (!all_finite(state.y)) {
    if (x_is_finite && lower_point != nullptr && all_finite(*lower_point)) {
      if (auto broken = detail::broken_lower_level(problem, state.x, *lower_point); !broken.empty()) {
        return {broken, {}};
      }
    }
    return blaming(solver, "beta", "lower level: y is not finite");
  }
  if (x_is_finite) {
    if (auto broken = detail::broken_lower_level(problem, state.x, state.y); !broken.empty()) {
      return {broken, {}};
    }
    if (auto broken = detail::broken_upper_level(problem, state.x, state.y); !broken.empty()) {
      return {broken, {}};
    }
  }
  if (!all_finite(state.v)) {
    return blaming(solver, multiplier_step(solver), "multiplier v is not finite");
  }
  return x_is_finite ? Finding{} : x_broke;
}

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

/// y or v, where their steps are longer than gradient descent bears: β or η not below 2/λ_max(∇²yy f).
template <SecondOrderProblem P, class S>
[[nodiscard]] Finding find_too_long_step(const P &problem, const S &solver, const State<VectorOf<P>> &state,
                                         const StepSizes &steps) {
  double curvature = 0.0;
  try {
    curvature = (1.0 - steps.mu) * largest_curvature(problem, state.x, state.y);
  } catch (const std::exception &) { // a loss that refuses this point: growth alone must tell
  }
  const auto finding = [&](const std::string &variable, const std::string &name, double step) {
    return blaming(solver, name,
                   "the steps of " + variable + " are too long, " + name + " = " + short_number(step) +
                       " with 2/λ = " + short_number(2.0 / curvature) + " for the lower level's curvature λ");
  };
  if (steps.beta * curvature >= 2.0) {
    return finding("y", "beta", steps.beta);
  }
  if (steps.eta * curvature >= 2.0 && !searches_multiplier_step(solver)) {
    return finding("v", "eta", steps.eta);
  }
  return {};
}

/// What of y, v, x and d grew most, each over max(1, its norm at the start); in a tie what a step computes first.
template <class S, VectorSpace V>
[[nodiscard]] Finding find_most_grown(const S &solver, const State<V> &state, const StartNorms &start,
                                      double direction) {
  struct Part {
    std::string name;
    double start;
    double now;
    std::string_view step;
  };
  const std::array<Part, 4> parts{Part{"y", start.y, norm(state.y), "beta"},
                                  Part{"v", start.v, norm(state.v), multiplier_step(solver)},
                                  Part{"x", start.x, norm(state.x), "alpha"}, Part{"d", start.d, direction, ""}};
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

/// Why a run ended or went back: what is to blame, as far as that is known, and a sentence for people.
struct Diagnosis {
  Finding cause;
  std::string text;
  bool grew = false; ///< numbers were finite and became too large
  bool stood_still = false;
};

/// Of a run whose d is finite and grew too far, or whose numbers are finite and their squares are not.
template <SecondOrderProblem P, class S>
[[nodiscard]] Diagnosis diagnosis_of_growth(const P &problem, const S &solver, const State<VectorOf<P>> &state,
                                            const StepSizes &steps, const StartNorms &start, double direction,
                                            std::int64_t step) {
  auto cause = find_too_long_step(problem, solver, state, steps);
  if (!cause.found()) {
    cause = find_most_grown(solver, state, start, direction);
    if (cause.blamed == "eta-cap" && multiplier_follows(problem, state)) {
      cause = blaming(solver, "alpha", "x runs away, and v follows it");
    }
  }
  const std::string grown = "‖d‖ " +
                            (std::isfinite(direction) ? "grew to " + short_number(direction) : "is not finite") +
                            " at step " + std::to_string(step);
  std::string text = grown + (cause.found() ? ": " + cause.what + "; try " + cause.remedy : "; try smaller steps");
  return {std::move(cause), std::move(text), true};
}

/// Of a run whose numbers are finite and drift apart: steps of y or v that are too long or, where L rises too, of x.
/// Nothing is found where the run may as well be leaving a saddle.
template <SecondOrderProblem P, class S>
[[nodiscard]] Diagnosis diagnosis_of_drift(const P &problem, const S &solver, const State<VectorOf<P>> &state,
                                           const StepSizes &steps, const detail::Drift &drift) {
  auto cause = find_too_long_step(problem, solver, state, steps);
  if (!cause.found() && drift.lagrangian_rose) {
    cause = blaming(solver, "alpha", "y and v do not follow x");
  }
  std::string text = "the KKT residual grew from " + short_number(drift.before) + " at step " +
                     std::to_string(drift.from) + " to " + short_number(drift.after) + " at step " +
                     std::to_string(drift.to) + ", and F with it: " + cause.what + "; try " + cause.remedy;
  return {std::move(cause), std::move(text), true};
}

struct Standstill {
  std::int64_t at = 0;
  std::int64_t steps = 0;
  double smallest = 0.0; ///< ‖d‖
  double last = 0.0;
  bool all_but_nothing = false; ///< `smallest` is, beside the first
};

/// Of a run whose ‖d‖ has not fallen for long: steps that are too long for y or v, what has grown, or else α.
template <SecondOrderProblem P, class S>
[[nodiscard]] Diagnosis diagnosis_of_standstill(const P &problem, const S &solver, const State<VectorOf<P>> &state,
                                                const StepSizes &steps, const StartNorms &start,
                                                const Standstill &seen) {
  constexpr double much_larger = 100.0;
  std::string text = "‖d‖ has not fallen below " + short_number(seen.smallest) + " for " + std::to_string(seen.steps) +
                     " steps, until step " + std::to_string(seen.at);
  if (seen.all_but_nothing) {
    return {{}, text + ", which is all but nothing beside the first", true, true};
  }
  auto cause = find_too_long_step(problem, solver, state, steps);
  if (!cause.found() && seen.last > much_larger * seen.smallest) {
    cause = find_most_grown(solver, state, start, seen.last);
  }
  if (cause.found()) {
    text += ": " + cause.what + "; try " + cause.remedy;
  } else {
    cause = blaming(solver, "alpha", "");
    text += "; try " + cause.remedy;
  }
  return {std::move(cause), std::move(text), true, true};
}

/// What conjugate gradients on ∇²yy f meet at a point.
template <SecondOrderProblem P>
[[nodiscard]] LinearStatus lower_curvature_at(const P &problem, const VectorOf<P> &x, const VectorOf<P> &y) {
  constexpr LinearOptions some_steps{.tolerance = 1e-8, .max_steps = 200};
  try {
    auto lower = problem.lower();
    lower.at(x, y);
    std::mt19937_64 generator(2);
    auto right = zeros_like(y);
    fill_normal(generator, right);
    auto solution = zeros_like(y);
    const auto product = [&](const VectorOf<P> &in, VectorOf<P> &out) { lower.hess_yy(in, out); };
    return ConjugateGradient<VectorOf<P>>().solve(product, right, solution, some_steps, true).status;
  } catch (const std::exception &) { // a loss that refuses this point says nothing of its curvature
    return LinearStatus::converged;
  }
}

/// A lower level that no step size mends.
[[nodiscard]] inline Finding finding_of(LinearStatus lower_curvature) {
  if (lower_curvature == LinearStatus::indefinite) {
    return {"the lower level is not convex in y: its Hessian is indefinite",
            "another start of y, or a penalty on y in the lower level"};
  }
  if (lower_curvature == LinearStatus::singular) {
    return {"the lower Hessian is singular: the lower level has many minimizers, or none",
            "mu > 0 with bagdc, or bda, or a penalty on y in the lower level"};
  }
  return {};
}

/// How a run ended that failed.
struct Failure {
  std::int64_t step = 0;
  StepOutcome outcome;
  double direction = 0.0; ///< ‖d‖
  bool grew = false;      ///< d is finite and too large
};

/// `lower_point` is where the step took ∇y f, or null.
template <SecondOrderProblem P, class S>
[[nodiscard]] Diagnosis diagnosed(const P &problem, const S &solver, const State<VectorOf<P>> &state,
                                  const VectorOf<P> *lower_point, const StartNorms &start, const Failure &failure) {
  const auto &method_says = failure.outcome.failure;
  if (!failure.grew) {
    auto cause = find_not_finite(problem, solver, state, lower_point, failure.outcome.moved_x);
    if (cause.found()) {
      std::string text = cause.at_step(failure.step) + (method_says.empty() ? "" : " (" + method_says + ")");
      return {std::move(cause), std::move(text)};
    }
  }
  return method_says.empty() ? diagnosis_of_growth(problem, solver, state, failure.outcome.steps, start,
                                                   failure.direction, failure.step)
                             : Diagnosis{{}, "step " + std::to_string(failure.step) + ": " + method_says};
}

} // namespace duplex
