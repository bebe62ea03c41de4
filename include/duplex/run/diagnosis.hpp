#pragma once
// Why a run ended or went back, in a sentence for people.

#include <duplex/method.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>
#include <duplex/run/drift.hpp>
#include <duplex/run/growth.hpp>
#include <duplex/run/not_finite.hpp>
#include <duplex/run/too_long_step.hpp>

#include <cmath>
#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <utility>

namespace duplex {

/// Why a run ended or went back: what is to blame, as far as that is known, and a sentence for people.
struct Diagnosis {
  Finding cause;
  std::string text;
  bool grew = false;        ///< numbers were finite and became too large
  bool stood_still = false; ///< ‖d‖ had not fallen for long
};

/// The diagnosis of a run whose d is finite and grew too far, or whose numbers are finite and their squares are not.
template <VectorSpace V>
[[nodiscard]] Diagnosis diagnosis_of_growth(const ProblemView<V> &problem, const StepOptions &options,
                                            const RunPoint<V> &run) {
  auto cause = find_too_long_step(problem, options, run);
  if (!cause.found()) {
    cause = find_most_grown(options, run);
    if (cause.blamed == Role::multiplier_cap && multiplier_follows(problem, *run.state)) {
      cause = blaming(options, Role::upper_step, "x runs away, and v follows it");
    }
  }
  const std::string grown =
      "‖d‖ " + (std::isfinite(run.direction) ? "grew to " + short_number(run.direction) : "is not finite") +
      " at step " + std::to_string(run.step);
  std::string text = grown + (cause.found() ? ": " + cause.what + "; try " + cause.remedy : "; try smaller steps");
  return {std::move(cause), std::move(text), true};
}

/// The diagnosis of a run whose numbers are finite and drift apart: steps of y or v that are too long or, where L rises
/// too, those of x.
/// Nothing is found where the run may as well be leaving a saddle.
template <VectorSpace V>
[[nodiscard]] Diagnosis diagnosis_of_drift(const ProblemView<V> &problem, const StepOptions &options,
                                           const RunPoint<V> &run, const detail::Drift &drift) {
  auto cause = find_too_long_step(problem, options, run);
  if (!cause.found() && drift.lagrangian_rose) {
    cause = blaming(options, Role::upper_step, "y and v do not follow x");
  }
  std::string text = "the KKT residual grew from " + short_number(drift.before) + " at step " +
                     std::to_string(drift.from) + " to " + short_number(drift.after) + " at step " +
                     std::to_string(drift.to) + ", and F with it: " + cause.what + "; try " + cause.remedy;
  return {std::move(cause), std::move(text), true};
}

/// The diagnosis of a run whose held-out loss says that it has broken (early_stopping.hpp). Its steps of y and v are
/// halved, not cut to a tenth: it is looked at so often that they are too long by little, and it has few steps to go on
/// with.
template <VectorSpace V>
[[nodiscard]] Diagnosis diagnosis_of_rise(const StepOptions &options, const RunPoint<V> &run, const std::string &rise) {
  auto cause = blaming(options, Role::lower_step, rise);
  cause.cut = 0.5;
  if (cause.blamed == Role::lower_step && options.multiplier() != Role::series_step) {
    cause.as_well = options.multiplier(); // both are bounded by the lower level's curvature
  }
  std::string text = cause.at_step(run.step);
  return {std::move(cause), std::move(text), true};
}

/// What is known of a run whose ‖d‖ has not fallen for long.
struct Standstill {
  std::int64_t steps = 0;
  double smallest = 0.0;        ///< the smallest ‖d‖
  bool all_but_nothing = false; ///< `smallest` is next to nothing relative to the first ‖d‖
};

/// The diagnosis of a run whose ‖d‖ has not fallen for long: steps that are too long for y or v, what has grown, or
/// else α.
template <VectorSpace V>
[[nodiscard]] Diagnosis diagnosis_of_standstill(const ProblemView<V> &problem, const StepOptions &options,
                                                const RunPoint<V> &run, const Standstill &seen) {
  constexpr double much_larger = 100.0;
  std::string text = "‖d‖ has not fallen below " + short_number(seen.smallest) + " for " + std::to_string(seen.steps) +
                     " steps, until step " + std::to_string(run.step);
  if (seen.all_but_nothing) {
    return {{}, text + ", which is next to nothing relative to the first", true, true};
  }
  auto cause = find_too_long_step(problem, options, run);
  if (!cause.found() && run.direction > much_larger * seen.smallest) {
    cause = find_most_grown(options, run);
  }
  if (cause.found()) {
    text += ": " + cause.what + "; try " + cause.remedy;
  } else {
    cause = blaming(options, Role::upper_step, "");
    text += "; try " + cause.remedy;
  }
  return {std::move(cause), std::move(text), true, true};
}

/// Whether ∇²yy f is positive definite at a point, as conjugate gradients with a random right-hand side see it.
template <VectorSpace V>
[[nodiscard]] LinearStatus lower_curvature_at(const ProblemView<V> &problem, const V &x, const V &y) {
  constexpr LinearOptions some_steps{.tolerance = 1e-8, .max_steps = 200};
  try {
    auto lower = problem.lower();
    lower.at(x, y);
    std::mt19937_64 generator(2);
    auto right = zeros_like(y);
    fill_normal(generator, right);
    auto solution = zeros_like(y);
    const auto product = [&](const V &in, V &out) { lower.hess_yy(in, out); };
    return ConjugateGradient<V>().solve(product, right, solution, some_steps, true).status;
  } catch (const std::exception &) { // a loss that refuses this point says nothing of its curvature
    return LinearStatus::converged;
  }
}

/// What to say of a lower level that no step size mends, because its Hessian is indefinite or singular.
[[nodiscard]] Finding finding_of(LinearStatus lower_curvature);

/// The diagnosis of a run that failed at its last step; `grew` says that d is finite and too large.
template <VectorSpace V>
[[nodiscard]] Diagnosis diagnosis_of_failure(const ProblemView<V> &problem, const StepOptions &options,
                                             const RunPoint<V> &run, const StepReport &outcome, bool grew) {
  const std::string method_says = outcome.failure.text();
  if (!grew) {
    auto cause = find_not_finite(problem, options, run, outcome.moved_x);
    if (cause.found()) {
      std::string text = cause.at_step(run.step) + (method_says.empty() ? "" : " (" + method_says + ")");
      return {std::move(cause), std::move(text)};
    }
  }
  return method_says.empty() ? diagnosis_of_growth(problem, options, run)
                             : Diagnosis{{}, "step " + std::to_string(run.step) + ": " + method_says};
}

} // namespace duplex
