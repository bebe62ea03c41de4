#pragma once
// What becomes of a run that breaks, drifts apart or stands still: it goes back to a good state and on with smaller
// steps where it may, and where it may not, why it broke is told.

#include <duplex/measure/verification.hpp>
#include <duplex/run/context.hpp>
#include <duplex/run/diagnosis.hpp>
#include <duplex/run/direction_history.hpp>
#include <duplex/run/drift.hpp>
#include <duplex/run/recovery.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace duplex::detail {

template <VectorSpace V> class Rescue {
public:
  /// `of_any_curvature`: a run that a held-out loss ends early need not have a lower level that is convex, such as that
  /// of a network. It ends before v has grown along the directions of negative curvature, and shorter steps do mend it.
  Rescue(RunContext<V> &run, const DirectionHistory &directions, bool of_any_curvature)
      : run_(&run), directions_(&directions), of_any_curvature_(of_any_curvature), start_(StartNorms::of(*run.state)) {
    if (run.options->recoveries > 0) {
      recovery_.emplace(run.method->steps(), *run.state, run.options->recoveries);
    }
    watch_drift();
  }

  [[nodiscard]] bool exists() const { return recovery_.has_value(); }
  [[nodiscard]] bool has_been_tried() const { return recovery_ && recovery_->tries() > 0; }
  [[nodiscard]] bool is_exhausted() const { return !recovery_ || recovery_->exhausted(); }
  [[nodiscard]] bool looks_for_drift_at(std::int64_t k) const { return drift_ && drift_->due(k); }

  /// Is told of a good step, the state of which may be kept.
  void learn(std::int64_t k) {
    if (recovery_ && !directions_->is_first(k) && !run_->report.tentative) {
      recovery_->learn(k, run_->summary.direction_norm, *run_->state);
    }
  }

  /// Goes back from what the last step has broken, or from where the run stands still; false where it may not. Where it
  /// has, the state is another, and the caller begins the method anew from it.
  [[nodiscard]] bool from_break() {
    if (!may_recover()) {
      return false;
    }
    go_back(diagnosis());
    return true;
  }

  /// Is told that a held-out loss says that the run has broken. The state that is known to be good is then the best
  /// by that loss, of that step, where there is one.
  void learn_of_rise(std::string rise, std::optional<std::int64_t> best_step, const State<V> &best) {
    rise_ = std::move(rise);
    if (recovery_ && best_step) {
      recovery_->keep(*best_step, best);
    }
  }

  /// Measures whether the run drifts apart, and goes back where it does. A drift ends no run: one that cannot recover
  /// from it breaks by itself, or does not.
  [[nodiscard]] bool from_drift(std::int64_t k) {
    if (!looks_for_drift_at(k) || !drift_->sees_growth(k, *run_->state) || !may_recover()) {
      return false;
    }
    const Diagnosis drifted =
        diagnosis_of_drift(run_->subject.problem, run_->method->steps(), run_point(), drift_->drift());
    if (!drifted.cause.found()) {
      return false;
    }
    go_back(drifted);
    return true;
  }

  /// Begins the method anew from the state as it is, with the steps that are left to it.
  void begin_anew() {
    run_->method->set_steps(recovery_->steps());
    run_->method->begin(*run_->state);
    run_->method->run().start_from_before();
    watch_drift();
    rise_.clear();
  }

  /// Why the last step broke, or why the run stands still.
  [[nodiscard]] Diagnosis diagnosis() const {
    if (!rise_.empty()) {
      return diagnosis_of_rise(run_->method->steps(), run_point(), rise_);
    }
    const Summary &summary = run_->summary;
    const bool unbroken = run_->report.failure.empty();
    if (unbroken && directions_->is_good(summary.direction_norm) && directions_->stands_still(summary.iterations)) {
      return diagnosis_of_standstill(run_->subject.problem, run_->method->steps(), run_point(),
                                     {.steps = run_->options->patience,
                                      .smallest = directions_->smallest(),
                                      .all_but_nothing = !directions_->has_digits_left()});
    }
    const bool grew = unbroken && directions_->is_too_large(summary.direction_norm);
    return diagnosis_of_failure(run_->subject.problem, run_->method->steps(), run_point(), run_->report, grew);
  }

  /// A sentence on a lower level that no step mends, measured at the last good state; empty where it is sound, or where
  /// no state was kept.
  [[nodiscard]] std::string bad_lower_level(const ProblemView<V> &limited) const {
    if (!recovery_ || of_any_curvature_ || !run_->report.failure.empty()) { // what a method says of itself is enough
      return {};
    }
    try {
      const auto found = finding_of(lower_curvature_at(limited, recovery_->good().x, recovery_->good().y));
      return found.found() ? "; " + found.what + "; try " + found.remedy : std::string{};
    } catch (const Cancelled &) {
      return {};
    }
  }

  template <class Archive> void archive(Archive &members) {
    members("start norms", start_);
    if (members.offers("drift.next")) { // a run that goes on may be given recoveries only now
      members("drift", drift_);
    }
  }
  void save(SavedState &saved) {
    StateWriter members(saved);
    members("recovery", recovery_);
    for (std::size_t i = 0; i < run_->summary.recoveries.size(); ++i) {
      saved.put(text_entry(i), run_->summary.recoveries[i]);
    }
  }
  /// True where the run that goes on had recovered.
  [[nodiscard]] bool go_on_from(const SavedState &from) {
    if (from.has("recovery.tries")) {
      if (!recovery_) { // its steps are those of before, and there are no more tries
        recovery_.emplace(run_->method->steps(), *run_->state, 0);
      }
      StateReader members(from);
      members("recovery", recovery_);
    }
    for (std::int64_t i = 0; has_been_tried() && i < recovery_->tries(); ++i) {
      run_->summary.recoveries.push_back(from.get<std::string>(text_entry(static_cast<std::size_t>(i))));
    }
    return has_been_tried();
  }

private:
  [[nodiscard]] static std::string text_entry(std::size_t i) { return "recovery text " + std::to_string(i); }

  [[nodiscard]] RunPoint<V> run_point() const {
    StartNorms start = start_;
    start.d = directions_->first();
    return {.state = run_->state,
            .good = recovery_ ? &recovery_->good() : nullptr,
            .lower_point = run_->method->run().lower_point(),
            .steps = run_->report.steps,
            .start = start,
            .direction = run_->summary.direction_norm,
            .step = run_->summary.iterations};
  }

  [[nodiscard]] bool may_recover() const {
    return recovery_ && !recovery_->exhausted() &&
           (of_any_curvature_ || lower_curvature_at(run_->subject.problem, recovery_->good().x, recovery_->good().y) !=
                                     LinearStatus::indefinite);
  }

  void go_back(const Diagnosis &why) {
    run_->summary.recoveries.push_back(
        recovery_->go_back(why, run_->report.steps, run_->summary.iterations, *run_->state));
  }

  /// Drift is not looked for where a method chooses its steps, since it measures what they do by itself, nor where
  /// samples differ from one measurement to the next.
  void watch_drift() {
    if (run_->subject.sees_whole && recovery_ && !run_->traits.chooses_its_steps()) {
      drift_.emplace(run_->subject.measured, run_->summary.iterations);
    }
  }

  RunContext<V> *run_;
  const DirectionHistory *directions_;
  bool of_any_curvature_;
  std::string rise_; ///< What a held-out loss says of a run that has broken; empty otherwise.
  StartNorms start_;
  std::optional<Recovery<V>> recovery_;
  std::optional<DriftWatch<V>> drift_;
};

} // namespace duplex::detail
