#pragma once
// What a run is made of, all that it remembers from step to step, and how it goes on from that.

#include <duplex/core/conversion.hpp>
#include <duplex/run/claims.hpp>
#include <duplex/run/context.hpp>
#include <duplex/run/direction_history.hpp>
#include <duplex/run/rescue.hpp>
#include <duplex/run/step_origin.hpp>
#include <duplex/run/stop_rule.hpp>
#include <duplex/run/watch.hpp>
#include <duplex/space/archive.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace duplex::detail {

template <VectorSpace V> class RunParts {
public:
  RunParts(RunContext<V> context, const Monitor<V> &monitor)
      : run(std::move(context)), origin(run.subject.problem.box(), run.state->x),
        limited(run.subject.measured, ignored_, &run.meter->limit), directions(*run.options),
        claims(run, run.options->has_tolerance() || monitor.target),
        rescue(run, directions, monitor.hold_out && monitor.hold_out->sees_breaks()),
        watch(ProblemView<V>(limited), *run.options, monitor, *run.state),
        upper(run.traits.upper, run.state->x, origin.box()) {
    run.summary.solver = run.method->name();
    run.method->begin(*run.state);
    if (const Saving *saving = run.options->saving; saving != nullptr && saving->from != nullptr) {
      try {
        go_on_from(*saving->from);
      } catch (const Cancelled &) { // which of the rules is met takes too long to tell
        run.summary.termination = run.why_left();
      }
    }
  }
  RunParts(const RunParts &) = delete; // they point to one another
  RunParts &operator=(const RunParts &) = delete;
  ~RunParts() = default;

  /// Lists all that a step may read or write.
  template <class Archive> void archive(Archive &members) {
    members("x", run.state->x);
    members("y", run.state->y);
    members("v", run.state->v);
    members("run", *run.method);
    members("upper", upper);
    if (run.subject.samples != nullptr) {
      members("drawn", *run.subject.samples);
    }
    members("counters", run.meter->counters);
    members("iterations", run.summary.iterations);
    members("direction norm", run.summary.direction_norm);
    members("directions", directions);
    members("origin", origin);
    members("tentative", run.report.tentative);
    members("claims", claims);
    members("rescue", rescue);
  }

  /// All that a run remembers, with what is measured beside the steps: the content of a checkpoint.
  [[nodiscard]] SavedState saved() {
    SavedState saved;
    StateWriter members(saved);
    archive(members);
    members("watch", watch);
    rescue.save(saved);
    saved.put("solver", std::string(run.method->name()));
    saved.put("seconds", SavedState::Doubles{run.meter->clock.seconds_while_paused()});
    saved.put("ended", SavedState::Integers{static_cast<std::int64_t>(run.summary.termination)});
    if (run.options->saving->add) {
      run.options->saving->add(saved);
    }
    return saved;
  }

  /// The method's step k.
  void step(std::int64_t k) {
    if (k == 1) {
      claims.begin();
    }
    run.report = run.method->run().step(*run.state, k - 1, upper);
  }

  /// Measures, tells the observers, and ends the run where a rule says so. Off the clock.
  void observe(std::int64_t k) {
    run.meter->limit.expect_other_work();
    Termination seen = Termination::not_run;
    try {
      seen = watch.look(Progress<V>{.iteration = k,
                                    .seconds = run.meter->clock.seconds_while_paused(),
                                    .direction_norm = run.summary.direction_norm,
                                    .steps = run.report.steps,
                                    .recoveries = static_cast<std::int64_t>(run.summary.recoveries.size()),
                                    .counters = run.meter->counters,
                                    .state = *run.state,
                                    .previous_x = origin.x(),
                                    .direction = run.method->run().direction(),
                                    .metrics = {}},
                        run.summary.termination == Termination::interrupted);
    } catch (const Cancelled &) { // what of the look was measured before stands
      seen = run.why_left();
    }
    if (seen == Termination::not_run && run.meter->limit.wall_time_is_up()) {
      seen = Termination::max_seconds;
    }
    if (seen != Termination::not_run) {
      run.summary.termination = seen;
    }
  }

  /// Takes a look that is due before the first step of this run, if one is. Off the clock.
  [[nodiscard]] bool makes_up_for_a_look() {
    const bool owes = watch.owes_look_at(run.summary.iterations);
    if (owes) {
      origin.keep(run.state->x);
      observe(run.summary.iterations);
    }
    return owes;
  }

  /// Whether a part asks for ‖d‖ of step k, also of a run that is ahead of the host.
  [[nodiscard]] bool read_direction_at(std::int64_t k) const {
    return directions.stands_still(k) || rescue.looks_for_drift_at(k) || run.options->direction_tolerance > 0.0 ||
           upper.reads_norms();
  }

  /// Whether the held-out loss says that the run has broken.
  [[nodiscard]] bool sees_break() {
    const EarlyStopping<V> *seen = watch.break_seen();
    if (seen != nullptr) {
      rescue.learn_of_rise(seen->text_of_break(), seen->best_iteration(), seen->best());
    }
    return seen != nullptr;
  }

  /// The sentence that goes with how the run ended, where there is one.
  [[nodiscard]] std::string message_at_end() const {
    const Summary &summary = run.summary;
    const bool is_asked_to_end = summary.termination == Termination::interrupted;
    const auto bad_lower_level = [&] { return rescue.bad_lower_level(ProblemView<V>(limited)); };
    if (summary.failed() || summary.termination == Termination::stagnated) {
      return rescue.diagnosis().text + claims.of_stuck() + bad_lower_level();
    }
    if (summary.termination == Termination::not_verified) {
      return claims.text();
    }
    if (summary.converged() || !rescue.exists()) {
      return {};
    }
    if (!summary.recoveries.empty()) {
      return "recoveries: " + std::to_string(summary.recoveries.size()) + ", the last: " + summary.recoveries.back() +
             (is_asked_to_end ? "" : bad_lower_level());
    }
    const bool has_grown = summary.direction_norm > std::max(directions.first(), directions.smallest());
    const std::string bad = has_grown && !is_asked_to_end ? bad_lower_level() : std::string{};
    return bad.empty() ? bad : "‖d‖ is larger than it was" + bad;
  }

  /// Fills in what the summary says of the end.
  void describe_end(bool last_step_was_left) {
    Summary &summary = run.summary;
    summary.seconds = run.meter->clock.seconds_while_paused();
    summary.counters = run.meter->counters;
    summary.explanation = run.method->run().explanation();
    if (summary.termination == Termination::tolerance_verified) {
      summary.explanation += "\n" + claims.text();
    }
    const State<V> &state = *run.state;
    if (!(all_finite(state.x) && all_finite(state.y) && all_finite(state.v))) {
      summary.termination = summary.failed() ? summary.termination : Termination::diverged;
      claims.end_diverged();
    }
    summary.message = message_at_end();
    if (last_step_was_left && summary.message.empty()) {
      summary.message = "step " + std::to_string(summary.iterations + 1) + " took too long and was abandoned";
    }
  }

  /// Begins the method anew from the state as it is, after a recovery.
  void start_anew() {
    rescue.begin_anew();
    claims.forget_end();
    upper = UpperUpdate<V>(run.traits.upper, run.state->x, origin.box());
    origin.start_anew();
    directions.start_anew(run.summary.iterations);
    watch.start_anew();
  }

  RunContext<V> run;
  StepOrigin<V> origin;

private:
  /// Throws InvalidInput where the saved state is not of such a run.
  void go_on_from(const SavedState &from) {
    if (const auto &solver = from.get<std::string>("solver"); solver != run.method->name()) {
      throw InvalidInput("the saved state is of the solver " + solver + ", expected " +
                         std::string(run.method->name()));
    }
    if (rescue.go_on_from(from)) {
      start_anew();
    }
    StateReader members(from);
    archive(members);
    members("watch", watch);
    claims.measure_again();
    run.meter->clock.credit(from.first<SavedState::Doubles>("seconds"));
    const auto ended = enumerator<Termination>(from.first<SavedState::Integers>("ended"), "the saved state's 'ended'");
    run.summary.termination =
        met_already(ended, run, directions, claims, rescue, watch); // then there is nothing to go on with
    if (!run.ended() && run.summary.iterations >= run.options->max_iterations) {
      run.summary.termination = Termination::max_iterations;
    }
    if (!run.ended() && run.meter->clock.seconds_while_paused() >= run.options->max_seconds) {
      run.summary.termination = Termination::max_seconds;
    }
  }

  Counters ignored_;

public:
  Counted<ProblemView<V>> limited; ///< the problem, for what is measured off the clock
  DirectionHistory directions;
  Claims<V> claims;
  Rescue<V> rescue;
  Watch<V> watch;
  UpperUpdate<V> upper;
};

} // namespace duplex::detail
