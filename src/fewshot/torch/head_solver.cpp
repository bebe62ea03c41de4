#include "fewshot/torch/head_solver.hpp"

#include "catalog/named_solver.hpp"

#include <algorithm>
#include <array>

namespace duplex::fewshot {

namespace {

template <class S, class P>
HeadSteps direction_after(std::int64_t steps, const S &solver, const P &problem, State<Tensors> &state) {
  typename S::template Run<P> run(solver, problem, state);
  UpperUpdate<Tensors> stays(UpperRule{}, Tensors());
  for (std::int64_t k = 0; k < steps; ++k) {
    const StepReport report = run.step(state, k, stays);
    if (!report.failure.empty()) {
      return {.direction = {}, .failure = report.failure.text()};
    }
  }
  return {.direction = run.direction()};
}

} // namespace

HeadSolver head_solver(const std::string &spec, std::int64_t steps, double step) {
  HeadSolver made;
  const auto parsed = names::parse_spec(spec);
  for (const auto &[option, value] : parsed.settings) {
    constexpr std::array<std::string_view, 6> of_backbone{"alpha",      "upper",      "momentum",
                                                          "adam-beta1", "adam-beta2", "adam-epsilon"};
    if (std::find(of_backbone.begin(), of_backbone.end(), option) != of_backbone.end()) {
      throw InvalidInput(parsed.name + ": " + option + " = " + value +
                         ", but the backbone is moved by few-shot itself, by Adam with --alpha");
    }
  }
  const std::string length = number_text(step);
  const std::string count = std::to_string(steps);
  // The Hessian of a few shots' heads is singular: conjugate gradients need damping, and neither many steps nor digits.
  const std::string linear_steps = std::to_string(std::max<std::int64_t>(1, steps / 2));
  const names::OptionDefaults defaults{{"alpha", "1"}, // which moves nothing here
                                       {"beta", length},    {"eta", length},    {"dual", "constant"},
                                       {"inner", count},    {"terms", count},   {"linear-steps", linear_steps},
                                       {"damping", "0.01"}, {"epsilon", "0.01"}};
  catalog::with_solver(parsed, defaults, [&]<class S>(const S &solver) {
    if (solver.traits().chooses_its_steps()) {
      throw InvalidInput(parsed.name + ": it moves x itself, but the backbone is moved by few-shot, by Adam with "
                                       "--alpha; expected a solver with steps, such as bagdc");
    }
    const std::int64_t outer = solver.traits().solves_inside ? 1 : steps;
    made.on_features = [solver, outer](const Heads &heads, State<Tensors> &state) {
      return direction_after(outer, solver, heads, state);
    };
    made.through_backbone = [solver, outer](const BatchProblem &problem, State<Tensors> &state) {
      return direction_after(outer, solver, problem, state);
    };
  });
  return made;
}

} // namespace duplex::fewshot
