#pragma once
// A run that broke goes back to the last state that is known to be good and on with a smaller step: that which is to
// blame, or all of them. Where nothing grew the same steps are tried once more, since a product may have failed once.

#include <duplex/run/diagnosis.hpp>
#include <duplex/step/step_sizes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace duplex {

template <VectorSpace V> class Recovery {
public:
  Recovery(StepOptions steps, const State<V> &start, std::int64_t most)
      : steps_(std::move(steps)), most_(most), start_(start), good_(start) {}

  /// The step sizes as they are now.
  [[nodiscard]] const StepOptions &steps() const { return steps_; }
  [[nodiscard]] std::int64_t tries() const { return tries_; }
  [[nodiscard]] bool exhausted() const { return tries_ >= most_; }
  [[nodiscard]] const State<V> &good() const { return good_; }

  /// Is told of a step that went well, and keeps its state at steps that double, unless ‖d‖ is much larger than it was.
  void learn(std::int64_t step, double direction, const State<V> &state) {
    constexpr double much_larger = 10.0;
    smallest_ = std::min(smallest_, direction);
    if (step < next_ || direction > much_larger * smallest_) {
      return;
    }
    keep(step, state);
    smallest_ = direction;
    next_ = 2 * step;
  }

  /// Keeps the state after a step as the one to go back to, unless the run has gone back to it in vain.
  void keep(std::int64_t step, const State<V> &state) {
    const bool is_given_up = given_up_step_ > 0 && step == given_up_step_;
    if (step != good_step_ && !is_given_up) { // otherwise it is kept already
      assign(state, good_);
      good_step_ = step;
      from_here_ = 0;
      guessed_ = false;
    }
  }

  /// Puts the state back, with smaller steps for the next try, and says so.
  [[nodiscard]] std::string go_back(const Diagnosis &diagnosis, const StepSizes &steps, std::int64_t step,
                                    State<V> &state) {
    constexpr int tries_of_a_state = 3;
    ++tries_;
    if (++from_here_ > tries_of_a_state && !diagnosis.stood_still) {
      given_up_step_ = good_step_;
      good_ = start_;
      good_step_ = 0;
    }
    const Finding &cause = diagnosis.cause;
    const bool happened_once = !diagnosis.grew && from_here_ == 1 && (cause.reason.empty() || cause.guessed);
    std::string done = diagnosis.text + "; back to step " + std::to_string(good_step_) + " with ";
    if (happened_once) {
      done += "the same steps";
    } else if (cause.guessed && std::exchange(guessed_, true)) {
      done += shrunk({}, steps) + ", since that was in vain before";
    } else {
      done += shrunk(cause, steps);
    }
    assign(good_, state);
    next_ = step + std::max<std::int64_t>(first_kept_step, step - good_step_);
    smallest_ = infinity;
    return done;
  }

  template <class Archive> void archive(Archive &members) {
    steps_.archive(members);
    members("start", start_);
    members("good", good_);
    members("good step", good_step_);
    members("given up step", given_up_step_);
    members("next", next_);
    members("tries", tries_);
    members("from here", from_here_);
    members("guessed", guessed_);
    members("smallest", smallest_);
  }

private:
  static constexpr std::int64_t first_kept_step = 16;

  /// The right step in place of that which is to blame, or a part of it, or of all where none is known to be; the text
  /// says what they are now.
  [[nodiscard]] std::string shrunk(const Finding &cause, const StepSizes &steps) {
    if (steps_.empty()) {
      return "steps found anew";
    }
    std::string text;
    for (auto &[role, name, value] : steps_.all()) {
      const bool may_be_cut = cause.blamed == Role::none || role == cause.as_well;
      if (role != cause.blamed && !(may_be_cut && std::isfinite(value))) {
        continue;
      }
      value = cause.right_step > 0.0 ? cause.right_step
              : std::isfinite(value) ? cause.cut * value
                                     : steps.beta; // a line search without a cap gets one
      text += (text.empty() ? "" : ", ") + name + " = " + short_number(value);
    }
    return text;
  }

  StepOptions steps_;
  std::int64_t most_;
  State<V> start_;
  State<V> good_;
  std::int64_t good_step_ = 0;
  std::int64_t given_up_step_ = 0; ///< the step of a state from which all tries were in vain; 0: none
  std::int64_t next_ = first_kept_step;
  std::int64_t tries_ = 0;
  int from_here_ = 0;    ///< how often the state that is kept was gone back to
  bool guessed_ = false; ///< whether one of these times the blame was a guess
  double smallest_ = infinity;
};

} // namespace duplex
