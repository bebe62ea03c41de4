#pragma once
// The protocol of a method. A method is one file:
//
//   struct MyMethod {
//     static constexpr std::string_view name = "my-method";
//     static constexpr std::string_view title = "what it does, in a line";
//     double alpha = 0.1;                                                     // its options
//     template <class Self, class Visit> static void fields(Self &, Visit &&);  // each with bound, help and role
//     MethodTraits traits() const;  // what the loop must know of it; throws InvalidInput where options contradict
//     template <SecondOrderProblem P> class Run;                              // a MethodRun<VectorOf<P>>
//   };
//
// whose Run is made from (options, problem, start), does one step at a time, and lists by archive(members) what it
// carries from step to step. This header is all that such a file includes.

#include <duplex/core/fields.hpp>
#include <duplex/core/text.hpp>
#include <duplex/measure/verification.hpp>
#include <duplex/problem/aggregate.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/space/archive.hpp>
#include <duplex/step/step_sizes.hpp>
#include <duplex/step/upper_rule.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace duplex {

/// What the loop must know of a method with its options.
struct MethodTraits {
  UpperRule upper = {};       ///< how x follows d
  bool aggregates = false;    ///< needs the upper level's hess_yy and cross_xy
  bool penalizes = false;     ///< holds the lower level by a penalty, and needs its grad_x
  bool solves_inside = false; ///< a step has an inner loop or inner solves, and may take any time
  bool repeats = false;       ///< each step is the same operations with the same numbers, and reads none of its results
  /// The method chooses its steps by what it measures, on a problem that is the same at every step, and claims success
  /// where it believes that ‖∇φ‖ is this small relative to the first. Zero: its steps are given.
  double own_tolerance = 0.0;

  [[nodiscard]] bool chooses_its_steps() const { return own_tolerance > 0.0; }
};

/// Why a step could not be done. It nearly always could: then the smallest steps pay for a pointer that is null, and
/// for no text.
class StepFailure {
public:
  StepFailure() = default;
  StepFailure(std::string text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  StepFailure(const char *text) : StepFailure(std::string(text)) {}

  [[nodiscard]] bool empty() const { return text_ == nullptr; }
  [[nodiscard]] std::string text() const { return text_ ? *text_ : std::string(); }

private:
  std::shared_ptr<const std::string> text_;
};

/// What a step reports to the loop.
struct StepReport {
  StepSizes steps = {};
  StepFailure failure = {}; ///< empty unless the method could not do the step
  bool stuck = false;       ///< the step failed because nothing can be improved: the state is as good as it gets
  bool not_finite = false;  ///< what failed met NaN or infinity
  bool moved_x = false;     ///< the step has moved x itself
  bool ahead = false;     ///< it was launched on a device and may not be done yet: reading ‖d‖ makes the host wait
  bool tentative = false; ///< d is not meant to be the hypergradient yet: no tolerance is judged by it
  /// The method believes that ‖∇φ‖ is this small relative to the first, and has left x where it was. Zero: it does not.
  double claims = 0.0;

  [[nodiscard]] bool has_failed() const { return !failure.empty() && !stuck; }
};

/// One run of a method: it moves y and v, and estimates the hypergradient d, which x then follows.
template <VectorSpace V> class MethodRun {
public:
  MethodRun() = default;
  MethodRun(const MethodRun &) = delete;
  MethodRun &operator=(const MethodRun &) = delete;
  virtual ~MethodRun() = default;

  /// Step k, counted from zero. A step that moves x itself, by `upper` or otherwise, says so in its report.
  virtual StepReport step(State<V> &state, std::int64_t k, UpperUpdate<V> &upper) = 0;
  /// The direction d of the last step, computed at x before the step.
  [[nodiscard]] virtual const V &direction() const = 0;

  /// The y at which the last step took ∇y f, by which a diagnosis tells what broke it; null where it is not kept.
  [[nodiscard]] virtual const V *lower_point() const { return nullptr; }
  /// What the run has measured and chosen, in words for people.
  [[nodiscard]] virtual std::string explanation() const { return {}; }
  /// Is called before the first step of a run that starts from a state which a recovery has gone back to.
  virtual void start_from_before() {}
  /// Whether the first step solves for y and v at the start; then it is told them, where they are cheap to know.
  [[nodiscard]] virtual bool solves_at_start() const { return false; }
  virtual void begin_at(const SlopeMeter<V> & /*truth*/) {}
  /// Is told what became of the last step's claim. Returns false where the method has nothing left to try.
  [[nodiscard]] virtual bool learn(const Verdict & /*verdict*/, const SlopeMeter<V> & /*truth*/) { return false; }
  /// Is told what ‖∇φ‖ is at a state where, as it has reported, nothing improves any more. Returns whether it begins
  /// anew from there.
  [[nodiscard]] virtual bool begin_anew(const State<V> & /*at*/, const Verdict & /*verdict*/,
                                        const SlopeMeter<V> & /*truth*/) {
    return false;
  }

  /// From here on steps are to be done one by one, not ahead of the host.
  virtual void stop_running_ahead() {}
};

} // namespace duplex
