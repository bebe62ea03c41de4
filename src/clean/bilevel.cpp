#include "clean/bilevel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace duplex::clean {

namespace {

/// Less than one per cent in the last four looks.
bool no_longer_falls(const std::vector<double> &losses) {
  constexpr std::size_t patience = 4;
  return losses.size() > patience && losses.back() > 0.99 * losses[losses.size() - 1 - patience];
}

} // namespace

BilevelAnswer BilevelRuns::run(int run, const BilevelProblem &problem) {
  double beta = 1.0 / std::max(problem.curvature(), 1e-12);
  constexpr int halvings = 8;
  for (int trial = 0; trial <= halvings; ++trial, beta *= 0.5) {
    const std::size_t looks_before = result_.looks.size();
    BilevelAnswer answer;
    if (attempt(run, problem, beta, answer)) {
      return answer;
    }
    result_.looks.resize(looks_before);
  }
  throw std::runtime_error("the bilevel run diverged, however short its lower steps; try --beta or --alpha");
}

bool BilevelRuns::attempt(int run, const BilevelProblem &problem, double beta, BilevelAnswer &answer) {
  const std::int64_t steps_before = run == 0 ? 0 : result_.steps[0];
  const double before = run == 0 ? 0.0 : seconds_;
  std::vector<double> losses;
  std::int64_t best_step = 0;
  bool overshot = false;
  const auto judge = [&](const Sight &sight) {
    losses.push_back(sight.held_out_loss);
    const double lowest = *std::min_element(losses.begin(), losses.end());
    Verdict verdict;
    if (losses.back() == lowest && std::isfinite(lowest)) { // nothing of a run that broke at once is kept
      verdict.is_best = true;
      best_step = sight.step;
    }
    const Look look{.run = run,
                    .step = sight.step,
                    .steps_in_all = steps_before + sight.step,
                    .seconds = before + sight.seconds,
                    .trusted_loss = sight.trusted_loss,
                    .held_out_loss = sight.held_out_loss,
                    .held_out_accuracy = sight.held_out_accuracy,
                    .suspects = sight.suspects};
    result_.looks.push_back(look);
    if (watch_) {
      watch_(look);
    }
    constexpr double far = 1.25;
    overshot = !std::isfinite(losses.back()) || losses.back() > far * lowest + 0.01;
    verdict.stop = overshot || no_longer_falls(losses);
    return verdict;
  };
  answer = problem.solve(choice(beta), judge);
  result_.solver = answer.solver;
  const Summary &summary = answer.summary;
  refuse_if_interrupted(options_.interrupt);
  if (summary.termination == Termination::step_failed) {
    throw std::runtime_error("the bilevel run failed: " + summary.message);
  }
  if (overshot || summary.failed()) {
    return false;
  }
  seconds_ = before + summary.seconds;
  const auto index = static_cast<std::size_t>(run);
  result_.steps[index] = summary.iterations;
  result_.best_step[index] = best_step;
  result_.endings[index] = summary.termination == Termination::predicate
                               ? "the held-out loss no longer fell by 1 % in 20 steps"
                           : summary.termination == Termination::stagnated ? "no step improves anything"
                                                                           : "as many steps as were allowed";
  return true;
}

SolverChoice BilevelRuns::choice(double beta) const {
  const auto text = [](double number) { return fmt::format("{:.4g}", number); };
  SolverChoice choice{.spec = options_.solver.empty() ? "bagdc" : options_.solver,
                      .defaults = {{"upper", "normalized"}, {"alpha", "0.1"}, {"beta", text(beta)}},
                      .most_steps = options_.most_steps,
                      .interrupt = options_.interrupt};
  if (plan_.convex) {
    choice.defaults.insert(choice.defaults.end(), {{"dual", "relaxed"}, {"eta-cap", text(10.0 * beta)}});
  } else { // along directions of negative curvature the multiplier grows: slowly by short steps, not at all if damped
    choice.defaults.insert(choice.defaults.end(),
                           {{"dual", "constant"}, {"eta", text(beta)}, {"damping", text(0.1 / beta)}});
  }
  return choice;
}

} // namespace duplex::clean
