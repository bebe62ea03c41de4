#pragma once
// The only loop. It moves x, keeps the clock and the counters, watches for divergence, and stops; a run of a solver
// moves y and v and estimates the hypergradient d.

#include <duplex/core/clock.hpp>
#include <duplex/core/conversion.hpp>
#include <duplex/measure/verification.hpp>
#include <duplex/problem/counters.hpp>
#include <duplex/run/any_method.hpp>
#include <duplex/run/diagnosis.hpp>
#include <duplex/run/direction_history.hpp>
#include <duplex/run/lookahead.hpp>
#include <duplex/run/options.hpp>
#include <duplex/run/recovery.hpp>
#include <duplex/run/summary.hpp>
#include <duplex/run/unfinished_step.hpp>
#include <duplex/run/watch.hpp>
#include <duplex/space/archive.hpp>
#include <duplex/step/upper_rule.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace duplex {

namespace detail {

/// What a run is about.
template <VectorSpace V> struct RunSubject {
  ProblemView<V> problem;          ///< as the steps see it
  ProblemView<V> measured;         ///< as it is measured off the clock
  SampleSource *samples = nullptr; ///< null where the problem is the same at every step
  bool sees_whole = true;          ///< `measured` is, at every look
};

template <VectorSpace V> class Loop {
public:
  /// Options, start and pairing are right already. Throws InvalidInput where the monitor, or what a run goes on from,
  /// is not.
  Loop(RunSubject<V> subject, AnyMethod<V> &method, RunMeter &meter, State<V> &state, const Options &options,
       const Monitor<V> &monitor)
      : subject_(std::move(subject)), method_(&method), traits_(method.traits()), meter_(&meter), state_(&state),
        options_(&options), asked_(options.has_tolerance() || monitor.target), time_limit_(options.max_seconds),
        limited_(subject_.measured, ignored_, &meter.limit), watch_(ProblemView<V>(limited_), options, monitor, state),
        upper_(traits_.upper, state.x), start_norms_(StartNorms::of(state)), directions_(options),
        saving_(options.saving) {
    summary_.solver = method.name();
    if (options.recoveries > 0) {
      recovery_.emplace(method.steps(), state, options.recoveries);
    }
    if (traits_.chooses_its_steps()) {
      verification_.emplace(method.problem(), state);
    }
    method.begin(state);
    watch_drift();
    if (options.saving != nullptr && options.saving->from != nullptr) {
      try {
        go_on_from(*options.saving->from);
      } catch (const Cancelled &) { // which of the rules is met takes too long to tell
        summary_.termination = why_left();
      }
    }
    saving_.saved(summary_.iterations);
  }

  Loop(const Loop &) = delete; // its parts point to one another
  Loop &operator=(const Loop &) = delete;
  ~Loop() = default;

  [[nodiscard]] Summary run() {
    meter_->clock.start();
    while (summary_.termination == Termination::not_run) {
      step(summary_.iterations + 1);
    }
    meter_->clock.pause();
    summary_.seconds = meter_->clock.seconds_while_paused();
    summary_.counters = meter_->counters;
    summary_.explanation = method_->run().explanation();
    if (summary_.termination == Termination::tolerance_verified) {
      summary_.explanation += "\n" + verification_->verdict().text();
    }
    if (!summary_.failed() && !(all_finite(state_->x) && all_finite(state_->y) && all_finite(state_->v))) {
      summary_.termination = Termination::diverged;
    }
    describe_end();
    if (!summary_.failed()) {
      if (saving_.saving() != nullptr) {
        std::optional<SavedState> before = left_ ? unfinished_.take_snapshot() : std::nullopt;
        save(before ? *before : saved_state());
      }
      if (!summary_.converged() || summary_.termination == Termination::overfitted || !asked_) {
        const std::string best = watch_.go_back_to_best(*state_, summary_.direction_norm);
        summary_.message += (summary_.message.empty() || best.empty() ? "" : "; ") + best;
      }
      watch_.report(summary_);
    }
    return std::move(summary_);
  }

private:
  /// The sentence that goes with how the run ended, where there is one.
  void describe_end() {
    std::string &message = summary_.message;
    if (summary_.failed() || summary_.termination == Termination::stagnated) {
      message = diagnosis().text + measured_where_stuck_ + bad_lower_level();
    } else if (summary_.termination == Termination::not_verified) {
      message = verification_->verdict().text();
    } else if (!summary_.converged() && !summary_.recoveries.empty()) {
      message = "recoveries: " + std::to_string(summary_.recoveries.size()) +
                ", the last: " + summary_.recoveries.back() + (is_asked_to_end() ? "" : bad_lower_level());
    } else if (!summary_.converged() && recovery_ && !is_asked_to_end() &&
               summary_.direction_norm > std::max(directions_.first(), directions_.smallest())) {
      if (const std::string bad = bad_lower_level(); !bad.empty()) {
        message = "‖d‖ is larger than it was" + bad;
      }
    }
    if (left_ && message.empty()) {
      message = "step " + std::to_string(summary_.iterations + 1) + " took too long and was left";
    }
  }

  void step(std::int64_t k) {
    const bool due = watch_.due(k);
    const bool observed_before = std::exchange(observed_, false);
    if (watch_.active()) { // any step may turn out to be the last, which is always observed
      meter_->clock.pause();
      assign(state_->x, previous_x_);
      meter_->clock.start();
    }
    if (k > 1 && subject_.samples != nullptr) {
      subject_.samples->next();
    }
    keep_before_step();
    try {
      outcome_ = method_->run().step(*state_, k - 1, upper_);
    } catch (const Cancelled &) {
      observed_ = observed_before;
      leave(k);
      return;
    }
    summary_.iterations = k;
    const Termination limit = limit_at(k);
    const bool goes_on = limit == Termination::not_run;
    if (!outcome_.failure.empty() && !outcome_.stuck) {
      end_or_recover(Termination::step_failed, goes_on && outcome_.not_finite);
      return;
    }
    const bool save_now = goes_on && saving_.due(k);
    const bool looks = must_look(k, due || save_now || !goes_on);
    if (looks && !look(k, goes_on)) { // before x follows: where d is not finite, x stays
      return;
    }
    if (!outcome_.moved_x) {
      upper_.apply(outcome_.steps.alpha, method_->run().direction(), state_->x);
      outcome_.moved_x = true;
    }
    bool recovered = false; // at a limit too: a run that goes on does what an uninterrupted one would have done
    if (looks) {
      learn(k);
      recovered = recovers_from_drift(k);
    }
    summary_.termination = limit;
    if (!recovered) {
      if (outcome_.claims > 0.0 && verification_ && !asked_) {
        summary_.termination = verified(limit);
      } else if (directions_.meets_tolerance(k, summary_.direction_norm, outcome_.tentative)) {
        summary_.termination = Termination::direction_tolerance;
      } else if (outcome_.stuck) {
        summary_.termination = end_where_stuck();
      } else if (directions_.stands_still(k)) {
        recovered = !end_or_recover(Termination::stagnated, directions_.has_digits_left());
      }
    }
    if (recovered && goes_on) {
      return;
    }
    if (due || (summary_.termination != Termination::not_run && watch_.active())) {
      observe(k);
    }
    if (summary_.termination == Termination::not_run && save_now) {
      meter_->clock.pause();
      save(saved_state());
      meter_->clock.start();
    }
  }

  /// What becomes of a run that claims success: its end where that is verified, or where there is nothing left to try.
  [[nodiscard]] Termination verified(Termination otherwise) {
    try {
      const Verdict &verdict = verification_->verify(*state_, outcome_.claims);
      const bool goes_on = method_->run().learn(verdict, verification_->meter());
      if (verdict.holds()) {
        return Termination::tolerance_verified;
      }
      return goes_on ? otherwise : Termination::not_verified;
    } catch (const Cancelled &) {
      left_ = true;
      return why_left();
    }
  }

  /// The end of a run that improves nothing any more. Where ‖∇φ‖ is found to be larger than at the start, the state is
  /// the start again.
  [[nodiscard]] Termination end_where_stuck() {
    if (!verification_) {
      return Termination::stagnated;
    }
    try {
      const Verdict &verdict = verification_->verify(*state_, traits_.own_tolerance);
      if (verdict.holds() && !asked_) {
        return Termination::tolerance_verified;
      }
      measured_where_stuck_ = "; " + verdict.text();
      if (verdict.known() && verdict.slope.norm - verdict.slope.error > verdict.first.norm + verdict.first.error) {
        verification_->go_back_to_start(*state_);
        measured_where_stuck_ += ", so that the state is the start again";
      }
      return Termination::stagnated;
    } catch (const Cancelled &) {
      left_ = true;
      return why_left();
    }
  }

  /// A step with an inner loop or inner solves may take any time, and may be left in its middle.
  [[nodiscard]] bool may_be_left() const { return traits_.solves_inside && meter_->limit.exists(); }

  void keep_before_step() {
    if (!may_be_left()) {
      return;
    }
    unfinished_.keep(*state_);
    if (saving_.saving() != nullptr && unfinished_.snapshot_is_due()) {
      meter_->clock.pause();
      unfinished_.keep_snapshot([&] { return saved_state(); });
      meter_->clock.start();
    }
  }

  void leave(std::int64_t k) {
    left_ = true;
    summary_.termination = why_left();
    unfinished_.put_back(*state_);
    if (watch_.active() && k > 1 && !observed_) {
      observe(k - 1);
    }
  }

  [[nodiscard]] bool is_asked_to_end() const { return summary_.termination == Termination::interrupted; }

  [[nodiscard]] Termination why_left() const {
    return meter_->limit.is_asked_to_end() ? Termination::interrupted : Termination::max_seconds;
  }

  [[nodiscard]] Termination limit_at(std::int64_t k) {
    if (k >= options_->max_iterations) {
      return Termination::max_iterations;
    }
    if (meter_->limit.is_asked_to_end()) {
      return Termination::interrupted;
    }
    return time_limit_.reached(k, meter_->clock) ? Termination::max_seconds : Termination::not_run;
  }

  [[nodiscard]] bool must_look(std::int64_t k, bool asked) const {
    return asked || !method_->run().runs_ahead() || lookahead_.must_look(k) || directions_.stands_still(k) ||
           (drift_ && drift_->due(k)) || options_->direction_tolerance > 0.0 || upper_.reads_norms();
  }

  /// Reads ‖d‖; false where the step does not count. Where ‖d‖ is not finite or too large the run ends or recovers, or,
  /// where steps before were not looked at, goes back to the last that is known to be good and does them again.
  [[nodiscard]] bool look(std::int64_t k, bool mendable) {
    const double direction_norm = norm(method_->run().direction());
    summary_.direction_norm = direction_norm;
    directions_.see(direction_norm);
    const bool good = directions_.is_good(direction_norm);
    const bool unseen = lookahead_.left_steps_unseen(k);
    lookahead_.looked_at(k);
    if (!good && unseen) {
      go_back();
      return false;
    }
    if (!good) {
      end_or_recover(Termination::diverged, mendable);
    }
    return good;
  }

  /// Of a step that was looked at and was good.
  void learn(std::int64_t k) {
    upper_.learn(summary_.direction_norm);
    keep_if_good(k);
    if (recovery_ && !directions_.is_first(k) && !outcome_.tentative) {
      recovery_->learn(k, summary_.direction_norm, *state_);
    }
    directions_.learn(k, summary_.direction_norm, outcome_.tentative);
  }

  [[nodiscard]] RunPoint<V> run_point() const {
    StartNorms start = start_norms_;
    start.d = directions_.first();
    return {.state = state_,
            .good = recovery_ ? &recovery_->good() : nullptr,
            .lower_point = method_->run().lower_point(),
            .steps = outcome_.steps,
            .start = start,
            .direction = summary_.direction_norm,
            .step = summary_.iterations};
  }

  /// Of what the last step has broken, or of why the run stands still.
  [[nodiscard]] Diagnosis diagnosis() const {
    const bool unbroken = outcome_.failure.empty();
    if (unbroken && directions_.is_good(summary_.direction_norm) && directions_.stands_still(summary_.iterations)) {
      return diagnosis_of_standstill(subject_.problem, method_->steps(), run_point(),
                                     {.steps = options_->patience,
                                      .smallest = directions_.smallest(),
                                      .all_but_nothing = !directions_.has_digits_left()});
    }
    const bool grew = unbroken && directions_.is_too_large(summary_.direction_norm);
    return diagnosis_of_failure(subject_.problem, method_->steps(), run_point(), outcome_, grew);
  }

  /// Where the run has kept a good state to look at: a lower level that no step mends.
  [[nodiscard]] std::string bad_lower_level() const {
    if (!recovery_ || !outcome_.failure.empty()) { // what a method says of itself is enough
      return {};
    }
    try {
      const auto found =
          finding_of(lower_curvature_at(ProblemView<V>(limited_), recovery_->good().x, recovery_->good().y));
      return found.found() ? "; " + found.what + "; try " + found.remedy : std::string{};
    } catch (const Cancelled &) {
      return {};
    }
  }

  /// True where it ends the run.
  bool end_or_recover(Termination ending, bool mendable) {
    meter_->clock.pause();
    const bool ends = !mendable || !may_recover();
    if (ends) {
      summary_.termination = ending;
    } else {
      go_back_and_on(diagnosis());
    }
    meter_->clock.start();
    return ends;
  }

  /// A drift ends no run: one that cannot recover from it breaks by itself, or does not.
  [[nodiscard]] bool recovers_from_drift(std::int64_t k) {
    if (!drift_ || !drift_->due(k)) {
      return false;
    }
    meter_->clock.pause();
    bool recovers = false;
    if (drift_->sees_growth(k, *state_) && may_recover()) {
      const Diagnosis drifted = diagnosis_of_drift(subject_.problem, method_->steps(), run_point(), drift_->drift());
      recovers = drifted.cause.found();
      if (recovers) {
        go_back_and_on(drifted);
      }
    }
    meter_->clock.start();
    return recovers;
  }

  [[nodiscard]] bool may_recover() const {
    return recovery_ && !recovery_->exhausted() &&
           lower_curvature_at(subject_.problem, recovery_->good().x, recovery_->good().y) != LinearStatus::indefinite;
  }

  void go_back_and_on(const Diagnosis &why) {
    summary_.recoveries.push_back(recovery_->go_back(why, outcome_.steps, summary_.iterations, *state_));
    start_anew();
    watch_.start_anew();
  }

  /// From the state as it is, with the steps that the recovery has left.
  void start_anew() {
    method_->set_steps(recovery_->steps());
    method_->begin(*state_);
    method_->run().start_from_before();
    upper_ = UpperUpdate<V>(traits_.upper, state_->x);
    directions_.start_anew(summary_.iterations);
    lookahead_.start_anew(summary_.iterations);
    watch_drift();
  }

  /// A run that chooses its steps measures what they do by itself; samples differ from look to look.
  void watch_drift() {
    if (subject_.sees_whole && recovery_ && !traits_.chooses_its_steps()) {
      drift_.emplace(subject_.measured, summary_.iterations);
    }
  }

  void keep_if_good(std::int64_t k) {
    if (method_->run().runs_ahead() && lookahead_.is_to_be_kept(k)) {
      StateWriter members(lookahead_.keep(k));
      remember(members);
    }
  }

  void go_back() {
    StateReader members(lookahead_.good());
    remember(members);
    lookahead_.looked_at(summary_.iterations);
    method_->run().stop_running_ahead();
  }

  /// Measures, tells the observers, and stops where a rule says so.
  void observe(std::int64_t k) {
    meter_->clock.pause();
    meter_->limit.expect_other_work();
    observed_ = true;
    Termination seen = Termination::not_run;
    try {
      seen = watch_.look(Progress<V>{.iteration = k,
                                     .seconds = meter_->clock.seconds_while_paused(),
                                     .direction_norm = summary_.direction_norm,
                                     .steps = outcome_.steps,
                                     .recoveries = static_cast<std::int64_t>(summary_.recoveries.size()),
                                     .counters = meter_->counters,
                                     .state = *state_,
                                     .previous_x = previous_x_,
                                     .direction = method_->run().direction(),
                                     .metrics = {}},
                         summary_.termination == Termination::interrupted);
    } catch (const Cancelled &) { // what of the look was measured before stands
      seen = why_left();
    }
    if (seen == Termination::not_run && meter_->limit.wall_time_is_up()) {
      seen = Termination::max_seconds;
    }
    if (seen != Termination::not_run) {
      summary_.termination = seen;
    }
    meter_->clock.start();
  }

  template <class Archive> void remember(Archive &members) {
    members("x", state_->x);
    members("y", state_->y);
    members("v", state_->v);
    members("run", *method_);
    members("upper", upper_);
    if (subject_.samples != nullptr) {
      members("drawn", *subject_.samples);
    }
    members("counters", meter_->counters);
    members("start norms", start_norms_);
    members("iterations", summary_.iterations);
    members("direction norm", summary_.direction_norm);
    members("directions", directions_);
    members("tentative", outcome_.tentative);
    members("verification", verification_);
    if (traits_.chooses_its_steps()) {
      saved_tolerance_ = traits_.own_tolerance;
      members("tolerance", saved_tolerance_);
    }
    if (members.offers("drift.next")) { // a run that goes on may be given recoveries only now
      members("drift", drift_);
    }
  }

  [[nodiscard]] SavedState saved_state() {
    SavedState saved;
    StateWriter members(saved);
    remember(members);
    members("watch", watch_);
    members("recovery", recovery_);
    for (std::size_t i = 0; i < summary_.recoveries.size(); ++i) {
      saved.put("recovery text " + std::to_string(i), summary_.recoveries[i]);
    }
    saved.put("solver", std::string(method_->name()));
    saved.put("seconds", SavedState::Doubles{meter_->clock.seconds_while_paused()});
    saved.put("ended", SavedState::Integers{static_cast<std::int64_t>(summary_.termination)});
    if (saving_.saving()->add) {
      saving_.saving()->add(saved);
    }
    return saved;
  }

  void save(const SavedState &saved) {
    saving_.saving()->save(saved);
    saving_.saved(summary_.iterations);
  }

  void go_on_from(const SavedState &from) {
    if (const auto &solver = from.get<std::string>("solver"); solver != method_->name()) {
      throw InvalidInput("the saved state is of the solver " + solver + ", expected " + std::string(method_->name()));
    }
    StateReader members(from);
    if (from.has("recovery.tries")) {
      if (!recovery_) { // its steps are those of before, and there are no more tries
        recovery_.emplace(method_->steps(), *state_, 0);
      }
      members("recovery", recovery_);
    }
    if (recovery_ && recovery_->tries() > 0) {
      start_anew();
      for (std::int64_t i = 0; i < recovery_->tries(); ++i) {
        summary_.recoveries.push_back(from.get<std::string>("recovery text " + std::to_string(i)));
      }
    }
    remember(members);
    members("watch", watch_);
    lookahead_.looked_at(summary_.iterations);
    meter_->clock.credit(from.first<SavedState::Doubles>("seconds"));
    const auto ended = enumerator<Termination>(from.first<SavedState::Integers>("ended"), "the saved state's 'ended'");
    summary_.termination = met_already(ended); // then there is nothing to go on with
    if (summary_.termination == Termination::not_run && summary_.iterations >= options_->max_iterations) {
      summary_.termination = Termination::max_iterations;
    }
  }

  /// Which of the rules that are asked for now is met where a run goes on; the method's own only where none is.
  [[nodiscard]] Termination met_already(Termination ended) {
    if (ended == Termination::predicate) {
      return ended;
    }
    if (ended == Termination::interrupted) { // it is not judged where one that was not interrupted would not have been
      return Termination::not_run;
    }
    if (!asked_ && verification_) {
      if (ended == Termination::tolerance_verified && verification_->holds_for(traits_.own_tolerance)) {
        return ended;
      }
      const bool used_up = ended == Termination::not_verified || ended == Termination::stagnated;
      if (used_up && traits_.own_tolerance <= saved_tolerance_) { // as much as before cannot be had by going on
        return ended;
      }
      if (summary_.iterations >= options_->max_iterations && // it would go on only to be judged
          verification_->verify(*state_, traits_.own_tolerance).holds()) {
        return Termination::tolerance_verified;
      }
    }
    if (directions_.meets_tolerance(summary_.iterations, summary_.direction_norm, outcome_.tentative)) {
      return Termination::direction_tolerance;
    }
    if (ended == Termination::not_run) {
      return ended;
    }
    if (const Termination met = watch_.met_at(*state_, false);
        met != Termination::not_run) { // at an end all is measured
      return met;
    }
    const bool may_try_again = recovery_ && !recovery_->exhausted() && directions_.has_digits_left();
    const bool stands_still = directions_.stands_still(summary_.iterations) && !may_try_again;
    const bool is_stuck = verification_ && asked_; // by its own word
    return ended == Termination::stagnated && (stands_still || is_stuck) ? ended : Termination::not_run;
  }

  RunSubject<V> subject_;
  AnyMethod<V> *method_;
  MethodTraits traits_;
  RunMeter *meter_;
  State<V> *state_;
  const Options *options_;
  bool asked_; ///< for a tolerance or a target, beside which a method's own does not count
  TimeLimit time_limit_;
  Summary summary_;
  Counters ignored_;
  Counted<ProblemView<V>> limited_; ///< for what is measured off the clock
  Watch<V> watch_;
  std::optional<Recovery<V>> recovery_;
  std::optional<DriftWatch<V>> drift_;          ///< where the run may recover
  std::optional<Verification<V>> verification_; ///< where the run claims success by itself
  UpperUpdate<V> upper_;
  double saved_tolerance_ = 0.0; ///< the method's own, of the run that goes on
  V previous_x_;
  UnfinishedStep<V> unfinished_;
  StartNorms start_norms_;
  DirectionHistory directions_;
  StepReport outcome_;
  SavingClock saving_;
  Lookahead lookahead_;
  std::string measured_where_stuck_;
  bool observed_ = false; ///< the last step
  bool left_ = false;     ///< the last step was, in its middle
};

// Compiled once, in the library.
extern template class Loop<Eigen::VectorXd>;
extern template class Loop<Eigen::VectorXf>;

} // namespace detail

} // namespace duplex
