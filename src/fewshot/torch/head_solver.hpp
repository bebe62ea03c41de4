#pragma once
// From heads to a direction in what made their features: what differs between solvers.

#include "fewshot/torch/batch_problem.hpp"
#include "names/spec.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace duplex::fewshot {

struct HeadSteps {
  Tensors direction;        ///< in the x of the state
  std::string failure = {}; ///< empty unless the solver could not do a step; there is no direction then
};

/// Each moves the heads of `state` and finds the direction in its x.
struct HeadSolver {
  /// x: features that were computed once.
  std::function<HeadSteps(const Heads &, State<Tensors> &)> on_features;
  /// x: the backbone, through which every evaluation of a level passes.
  std::function<HeadSteps(const BatchProblem &, State<Tensors> &)> through_backbone;
};

/// By "name" or "name:key=value:…". A method of one loop takes `steps` steps on y and v, one with an inner loop takes
/// one step with that many inner ones; `step` is the length of all of them. Options of the spec come first. Throws
/// InvalidInput as catalog::make_solver() does.
[[nodiscard]] HeadSolver head_solver(const std::string &spec, std::int64_t steps, double step);

} // namespace duplex::fewshot
