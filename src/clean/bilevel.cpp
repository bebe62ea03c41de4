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

} // namespace

BilevelAnswer BilevelRuns::run(int run, const BilevelProblem &problem) {
  BilevelAnswer answer = problem.solve(request(run, problem.curvature()));
  if (answer.summary.termination == Termination::interrupted) {
    throw Interrupted("interrupted");
  }
  refuse_failure(answer.summary);
  for (const auto &row : answer.looks) {
    result_.looks.push_back(look_of(run, row));
  }
  seconds_ += answer.summary.seconds;
  const auto index = static_cast<std::size_t>(run);
  result_.solver = answer.solver;
  result_.steps[index] = answer.summary.iterations;
  result_.best_step[index] = answer.kept_step;
  result_.endings[index] = ending_of(answer.summary.termination);
  result_.recoveries[index] = answer.summary.recoveries;
  return answer;
}

Look BilevelRuns::look_of(int run, const TraceRow &row) const {
  const Measured measured = measured_at(row);
  return {.run = run,
          .step = row.iteration,
          .steps_in_all = (run == 0 ? 0 : result_.steps[0]) + row.iteration,
          .seconds = seconds_ + row.seconds,
          .trusted_loss = measured.trusted_loss,
          .held_out_loss = measured.held_out_loss,
          .held_out_accuracy = measured.held_out_accuracy,
          .suspects = measured.suspects};
}

/// β = 1/λ_max of the lower Hessian where the run begins; x moves by the direction of d, which has no unit to get
/// wrong.
BilevelRequest BilevelRuns::request(int run, double curvature) const {
  const double beta = 1.0 / std::max(curvature, 1e-12);
  BilevelRequest request{.solver = options_.solver.empty() ? "bagdc" : options_.solver,
                         .defaults = {{"upper", "normalized"}, {"alpha", 0.1}, {"beta", in_four_digits(beta)}},
                         .most_steps = options_.most_steps,
                         .interrupt = options_.interrupt};
  const auto add = [&](const char *option, const auto &value) { request.defaults.emplace_back(option, value); };
  if (plan_.convex) {
    add("dual", "relaxed");
    add("eta-cap", in_four_digits(10.0 * beta));
  } else { // along directions of negative curvature the multiplier grows: slowly by short steps, not at all if damped
    add("dual", "constant");
    add("eta", in_four_digits(beta));
    add("damping", in_four_digits(0.1 / beta));
  }
  if (watch_) {
    request.watch = [this, run](const TraceRow &row) { watch_(look_of(run, row)); };
  }
  return request;
}

} // namespace duplex::clean
