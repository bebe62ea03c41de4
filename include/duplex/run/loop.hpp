#pragma once
// The only loop: step, divergence, move x, stopping, recovery, monitor, checkpoint, each a part with a file of its own.

#include <duplex/run/checkpoints.hpp>
#include <duplex/run/limits.hpp>
#include <duplex/run/lookahead.hpp>
#include <duplex/run/parts.hpp>
#include <duplex/run/stop_rule.hpp>

#include <cstdint>
#include <utility>

namespace duplex::detail {

template <VectorSpace V> class Loop {
public:
  /// Options, start and pairing were validated before. Throws InvalidInput where the monitor or a saved state is wrong.
  Loop(RunContext<V> context, const Monitor<V> &monitor)
      : parts_(std::move(context), monitor), run_(parts_.run), limits_(*run_.options), checkpoints_(parts_) {
    lookahead_.looked_at(run_.summary.iterations);
  }

  [[nodiscard]] Summary run() {
    checkpoints_.save_at_start();
    observed_ = parts_.makes_up_for_a_look();
    run_.meter->clock.start();
    while (!run_.ended()) {
      if (parts_.sees_break()) { // at the last look, which may have been that of a run that goes on
        end_or_recover(Termination::diverged, true);
      } else {
        step(run_.summary.iterations + 1);
      }
    }
    run_.meter->clock.pause();
    end();
    return std::move(run_.summary);
  }

private:
  void step(std::int64_t k) {
    const bool due = parts_.watch.due(k);
    const bool observed_before = std::exchange(observed_, false);
    prepare(k);
    try {
      parts_.step(k);
    } catch (const Cancelled &) {
      return leave(k, observed_before);
    }
    run_.summary.iterations = k;
    const Termination limit = limits_.met(k, *run_.meter);
    const bool goes_on = limit == Termination::not_run;
    const bool save_now = goes_on && checkpoints_.due(k);
    if (run_.report.has_failed()) {
      return finish(k, StopRule::failed, limit, due, save_now);
    }
    const V &d = run_.method->run().direction();
    parts_.origin.follow(d);
    const bool ahead = run_.report.ahead;
    const bool looks = !ahead || due || save_now || !goes_on || lookahead_.must_look(k) || parts_.read_direction_at(k);
    if (looks && !look(k, norm(d), goes_on)) { // before x follows: where d is not finite, x stays
      return;
    }
    if (!std::exchange(run_.report.moved_x, true)) {
      parts_.upper.apply(run_.report.steps.alpha, d, run_.state->x);
    }
    const bool recovered = looks && learns_that_it_recovers(k); // at a limit too, as an uninterrupted run would
    if (!recovered || !goes_on) {
      const StopRule rule = stop_rule_met(k, run_, parts_.claims, parts_.directions);
      finish(k, recovered ? StopRule::none : rule, limit, due, save_now);
    }
  }

  /// Stops where the rule says so, measures and saves.
  void finish(std::int64_t k, StopRule rule, Termination limit, bool due, bool save_now) {
    run_.summary.termination = limit;
    const bool recovered = rule != StopRule::none && stops_only_to_recover(rule, limit);
    if (run_.ended() ? run_.summary.failed() : recovered) {
      return;
    }
    parts_.watch.after_step(k, run_.meter->clock);
    if (due || (run_.ended() && parts_.watch.active())) {
      observe(k);
    }
    if (!run_.ended() && save_now) {
      run_.meter->clock.pause_for([&] { checkpoints_.save(); });
    }
  }

  void prepare(std::int64_t k) {
    if (parts_.watch.active() || parts_.origin.is_needed()) { // any step may be the last, which is always observed
      run_.meter->clock.pause_for([&] { parts_.origin.keep(run_.state->x); });
    }
    checkpoints_.before_step(); // before the draw: a run that goes on from there draws for the step anew
    if (k > 1 && run_.subject.samples != nullptr) {
      run_.subject.samples->next();
    }
  }

  void leave(std::int64_t k, bool observed_before) {
    left_ = true;
    observed_ = observed_before;
    run_.summary.termination = run_.why_left();
    checkpoints_.put_back();
    if (parts_.watch.active() && k > 1 && !observed_) {
      observe(k - 1);
    }
  }

  /// Reads ‖d‖; false where the step does not count.
  [[nodiscard]] bool look(std::int64_t k, double length, bool mendable) {
    parts_.directions.see(length);
    const bool good = parts_.directions.is_good(length);
    const bool unseen = lookahead_.left_steps_unseen(k);
    lookahead_.looked_at(k);
    run_.summary.direction_norm = good ? parts_.origin.free_norm(length) : length;
    if (!good) {
      give_up_step(unseen, mendable);
    }
    return good;
  }

  /// The run diverges, or goes back to do steps again that nobody saw.
  void give_up_step(bool unseen, bool mendable) {
    if (unseen) {
      lookahead_.go_back(parts_);
      run_.method->run().stop_running_ahead();
    } else if (end_or_recover(Termination::diverged, mendable)) {
      parts_.claims.end_diverged();
    }
  }

  /// Tells every part that keeps a history of a good step; true where the run drifts, and has gone back from that.
  [[nodiscard]] bool learns_that_it_recovers(std::int64_t k) {
    parts_.upper.learn(run_.summary.direction_norm);
    if (run_.report.ahead) {
      lookahead_.keep_if_due(k, parts_);
    }
    parts_.rescue.learn(k);
    parts_.directions.learn(k, run_.summary.direction_norm, run_.report.tentative);
    return parts_.rescue.looks_for_drift_at(k) && recovers([&] { return parts_.rescue.from_drift(k); });
  }

  /// Ends the run by the rule; true where it recovers from what the rule has seen.
  [[nodiscard]] bool stops_only_to_recover(StopRule rule, Termination limit) {
    try {
      const Termination ending = ending_by(rule, limit, parts_.claims);
      const bool stands_still = rule == StopRule::stands_still && parts_.directions.has_digits_left();
      const bool has_broken = ending == Termination::step_failed && !run_.ended() && run_.report.not_finite;
      return !end_or_recover(ending, stands_still || has_broken);
    } catch (const Cancelled &) {
      left_ = true;
      run_.summary.termination = run_.why_left();
    }
    return false;
  }

  /// Goes back to a good state where the run may and can; otherwise ends the run, and is true.
  bool end_or_recover(Termination ending, bool mendable) {
    const bool ends = !mendable || !recovers([&] { return parts_.rescue.from_break(); });
    if (ends) {
      run_.summary.termination = ending;
      parts_.claims.leave_worse_state();
    }
    return ends;
  }

  template <class GoBack> [[nodiscard]] bool recovers(const GoBack &go_back) {
    return run_.meter->clock.pause_for([&] {
      if (!go_back()) {
        return false;
      }
      parts_.start_anew();
      lookahead_.start_anew(run_.summary.iterations);
      return true;
    });
  }

  void observe(std::int64_t k) {
    observed_ = true;
    run_.meter->clock.pause_for([&] { parts_.observe(k); });
  }

  void end() {
    parts_.describe_end(left_);
    if (!run_.summary.failed()) {
      checkpoints_.save_at_end(left_);
      parts_.watch.end(*run_.state, parts_.claims.asked_for_other(), run_.summary);
    }
  }

  RunParts<V> parts_;
  RunContext<V> &run_;
  Limits limits_;
  Lookahead lookahead_;
  Checkpoints<V> checkpoints_;
  bool observed_ = false; ///< whether the last step was observed
  bool left_ = false;     ///< whether the last step was abandoned in its middle
};

} // namespace duplex::detail
