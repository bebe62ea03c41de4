#pragma once
// What was found to have broken a run, and the point at which the run was examined.

#include <duplex/problem/problem.hpp>
#include <duplex/run/step_options.hpp>
#include <duplex/step/step_sizes.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace duplex {

inline constexpr double step_cut = 0.1; ///< what a recovery makes of a step that is to blame

/// What broke, and what may mend it. Both may be empty.
struct Finding {
  std::string what;          ///< such as "lower level: y is not finite"
  std::string remedy;        ///< such as "a smaller beta"
  Role blamed = Role::none;  ///< the step that is to blame
  std::string reason = {};   ///< why that step is to blame
  bool guessed = false;      ///< blamed because of where the run went; otherwise the step was measured to be too long
  double right_step = 0.0;   ///< a step size that would do, where one was measured, and otherwise 0
  double cut = step_cut;     ///< the factor for the step that is to blame, where no right step was measured
  Role as_well = Role::none; ///< another step that is cut with it

  [[nodiscard]] bool found() const { return !what.empty(); }
  [[nodiscard]] std::string at_step(std::int64_t step) const;
};

/// A finding that blames a step; its remedy is such as "a smaller beta" where the method has that option.
[[nodiscard]] Finding blaming(const StepOptions &options, Role step, std::string what);

/// The same finding with its blame marked as a guess.
[[nodiscard]] inline Finding as_a_guess(Finding finding) {
  finding.guessed = true;
  return finding;
}

/// Norms at a run's start, against which growth is judged.
struct StartNorms {
  double x = 0.0;
  double y = 0.0;
  double v = 0.0;
  double d = 0.0; ///< ‖d‖ of the first step

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

/// The point at which a run is examined.
template <VectorSpace V> struct RunPoint {
  const State<V> *state = nullptr;
  const State<V> *good = nullptr; ///< the last state that seemed good, or the start; null where none is kept
  const V *lower_point = nullptr; ///< the y at which the last step took ∇y f; null where it is not kept
  StepSizes steps = {};           ///< those of the last step
  StartNorms start = {};
  double direction = 0.0; ///< ‖d‖
  std::int64_t step = 0;
};

} // namespace duplex
