#pragma once
// A method that chooses its steps claims that its own tolerance is met, or that nothing can be improved any more. What
// is made of that is decided by a verification that shares nothing with the method.

#include <duplex/measure/verification.hpp>
#include <duplex/run/context.hpp>

#include <optional>
#include <string>

namespace duplex::detail {

template <VectorSpace V> class Claims {
public:
  /// `asked_for_other` says that the caller set a tolerance or a target, which counts in the place of the method's own.
  Claims(const RunContext<V> &run, bool asked_for_other) : run_(&run), asked_for_other_(asked_for_other) {
    if (run.traits.chooses_its_steps()) {
      verification_.emplace(run.method->problem(), *run.state);
    }
  }

  [[nodiscard]] bool exist() const { return verification_.has_value(); }
  [[nodiscard]] bool asked_for_other() const { return asked_for_other_; }
  [[nodiscard]] bool made_now() const { return verification_ && !asked_for_other_ && run_->report.claims > 0.0; }

  /// Before the first step. ‖∇φ‖ at the start is needed at the end anyway: where it is cheap it is measured at once, so
  /// that the method need not solve for the same y and v again.
  void begin() {
    if (verification_ && !asked_for_other_ && run_->method->run().solves_at_start() &&
        verification_->first_is_cheap() && verification_->first().known()) {
      run_->method->run().begin_at(verification_->meter());
    }
  }
  /// Of a run that goes on: what was found of the lower Hessian when ‖∇φ‖ was measured at the start is found again, so
  /// that what follows costs what it would have cost. Off the counters.
  void measure_again() {
    if (verification_) {
      const Counters before = run_->meter->counters;
      verification_->measure_first_again();
      run_->meter->counters = before;
    }
  }

  /// Verifies the claim of the last step: tolerance_verified where it holds, not_verified where it does not and the
  /// method has nothing left to try, and `otherwise` where the run goes on.
  [[nodiscard]] Termination verify(Termination otherwise) {
    forget_end();
    const Verdict &verdict = verification_->verify(*run_->state, run_->report.claims);
    const bool goes_on = run_->method->run().learn(verdict, verification_->meter());
    if (verdict.holds()) {
      return Termination::tolerance_verified;
    }
    if (goes_on) {
      return otherwise;
    }
    judged_end_ = true;
    return Termination::not_verified;
  }

  /// The end of a run that improves nothing any more, or whose step could not be done, as `ending` says; `otherwise`
  /// where the method begins anew.
  [[nodiscard]] Termination end_where_stuck(Termination ending, Termination otherwise) {
    forget_end();
    if (!verification_) {
      return ending;
    }
    const Verdict &verdict = verification_->verify(*run_->state, run_->traits.own_tolerance);
    if (verdict.holds() && !asked_for_other_) {
      return Termination::tolerance_verified;
    }
    const bool may_go_on = verdict.known() && !verdict.holds() && !verdict.hidden_by_rounding();
    if (may_go_on && run_->method->run().begin_anew(*run_->state, verdict, verification_->meter())) {
      return otherwise; // also at a limit, so that a run that goes on from there has begun anew
    }
    stuck_ = verdict.text();
    judged_end_ = true;
    return ending;
  }
  /// Where the run really ends by what these two have said, and ‖∇φ‖ was found to be larger than at the start, or to be
  /// infinite, its state is no result: it is the start again.
  void leave_worse_state() {
    if (!judged_end_) {
      return;
    }
    const Verdict &verdict = verification_->verdict();
    const bool is_larger =
        verdict.known() && verdict.slope.norm - verdict.slope.error > verdict.first.norm + verdict.first.error;
    if (is_larger || (verdict.first.known() && verdict.slope.met_infinity)) {
      verification_->go_back_to_start(*run_->state);
      back_at_start_ = ", so that the state is the start again";
    }
  }
  /// The run goes on, after a recovery.
  void forget_end() {
    judged_end_ = false;
    stuck_.clear();
    back_at_start_.clear();
  }
  /// The end of a run whose d has grown without end: nothing that it came to is worth keeping.
  void end_diverged() {
    if (verification_) {
      verification_->go_back_to_start(*run_->state);
      stuck_ = "the state is the start again";
    }
  }
  /// What these two found, to be put after what the method says; empty where it measured nothing.
  [[nodiscard]] std::string of_stuck() const { return stuck_.empty() ? stuck_ : "; " + stuck_ + back_at_start_; }

  /// For a resumed run that had ended with `ended`: the termination that holds for the tolerance that is asked for now,
  /// or not_run where the run has to go on.
  [[nodiscard]] Termination met_already(Termination ended) {
    if (asked_for_other_ || !verification_) {
      return Termination::not_run;
    }
    const double tolerance = run_->traits.own_tolerance;
    if (ended == Termination::tolerance_verified && verification_->holds_for(tolerance)) {
      return ended;
    }
    const bool used_up = ended == Termination::not_verified || ended == Termination::stagnated;
    if (used_up && tolerance <= tolerance_before_) { // as much as before cannot be had by going on
      return ended;
    }
    if (run_->summary.iterations >= run_->options->max_iterations && // it would go on only to be judged
        verification_->verify(*run_->state, tolerance).holds()) {
      return Termination::tolerance_verified;
    }
    return Termination::not_run;
  }

  /// What the last verification found.
  [[nodiscard]] std::string text() const {
    return verification_ ? verification_->verdict().text() + back_at_start_ : std::string{};
  }

  template <class Archive> void archive(Archive &members) {
    if (verification_) {
      members("verification", verification_);
      tolerance_before_ = run_->traits.own_tolerance;
      members("tolerance", tolerance_before_);
    }
  }

private:
  const RunContext<V> *run_;
  bool asked_for_other_;
  std::optional<Verification<V>> verification_;
  double tolerance_before_ = 0.0; ///< that of the run before it was resumed
  bool judged_end_ = false;       ///< the last verification was of what may be the end
  std::string stuck_;
  std::string back_at_start_;
};

} // namespace duplex::detail
