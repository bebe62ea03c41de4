#include "clean/bilevel.hpp"

#include "clean/bilevel_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace duplex::clean {

namespace {

/// Four digits, so that the steps in a report are those of the run.
double in_four_digits(double number) {
  const double unit = std::pow(10.0, std::abs(3.0 - std::floor(std::log10(number)))); // a whole number
  return number < 1e4 ? std::round(number * unit) / unit : std::round(number / unit) * unit;
}

std::string ending_of(Termination termination) {
  switch (termination) {
  case Termination::overfitted: {
    const HoldOut rule = bilevel_hold_out();
    return fmt::format("the held-out loss no longer fell by {:g} % in {} steps", 100.0 * rule.least_improvement,
                       rule.patience * steps_between_looks);
  }
  case Termination::stagnated:
    return "no step improves anything";
  case Termination::tolerance_verified:
    return "the solver's own tolerance is met";
  case Termination::not_verified:
    return "the solver's own tolerance may be met, which could not be verified";
  default:
    return "as many steps as were allowed";
  }
}

void refuse_failure(const Summary &summary) {
  if (summary.termination == Termination::step_failed) {
    throw std::runtime_error("the bilevel run failed: " + summary.message);
  }
  if (summary.failed() || !std::isfinite(summary.metrics.front().second)) {
    throw std::runtime_error(
        "the bilevel run diverged: " + (summary.message.empty() ? "its held-out loss is not finite" : summary.message) +
        "; try a smaller --beta or --alpha");
  }
}

Look look_of(const TraceRow &row) {
  const Measured measured = measured_at(row);
  return {.step = row.iteration,
          .seconds = row.seconds,
          .trusted_loss = measured.trusted_loss,
          .held_out_loss = measured.held_out_loss,
          .held_out_accuracy = measured.held_out_accuracy,
          .suspects = measured.suspects};
}

/// β = 1/λ_max of the lower Hessian where the run begins; x moves by the direction of d, which has no unit to get
/// wrong.
BilevelRequest request_of(const Options &options, double curvature, const std::function<void(const Look &)> &watch) {
  const double beta = 1.0 / std::max(curvature, 1e-12);
  BilevelRequest request{.solver = options.solver.empty() ? "bagdc" : options.solver,
                         .defaults = {{"upper", "normalized"},
                                      {"alpha", 0.1},
                                      {"beta", in_four_digits(beta)},
                                      {"dual", "relaxed"},
                                      {"eta-cap", in_four_digits(10.0 * beta)}},
                         .most_steps = options.most_steps,
                         .interrupt = options.interrupt};
  if (watch) {
    request.watch = [&watch](const TraceRow &row) { watch(look_of(row)); };
  }
  return request;
}

} // namespace

BilevelAnswer solve_bilevel(const BilevelProblem &problem, const Options &options,
                            const std::function<void(const Look &)> &watch, Result &result) {
  BilevelAnswer answer = problem.solve(request_of(options, problem.curvature(), watch));
  if (answer.summary.termination == Termination::interrupted) {
    throw Interrupted("interrupted");
  }
  refuse_failure(answer.summary);
  for (const auto &row : answer.looks) {
    result.looks.push_back(look_of(row));
  }
  result.solver = answer.solver;
  result.steps = answer.summary.iterations;
  result.best_step = answer.kept_step;
  result.ending = ending_of(answer.summary.termination);
  result.recoveries = answer.summary.recoveries;
  return answer;
}

} // namespace duplex::clean
