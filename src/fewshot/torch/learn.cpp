#include "fewshot/torch/learner.hpp"

#include <duplex/solve.hpp>
#include <duplex/torch/runs.hpp>

#include <string_view>

namespace duplex::fewshot {

namespace {

/// The learner's step as a method of the engine: the loop moves the backbone by Adam.
struct FewShot {
  static constexpr std::string_view name = "few-shot";
  static constexpr std::string_view title = "heads of a batch of tasks, then the backbone";

  Learner *learner = nullptr;
  double alpha = 0.0;
  double head_step = 0.0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("alpha", self.alpha, finite_positive, "Adam's step", Role::upper_step);
    visit("head-step", self.head_step, finite_positive, "length of a step on the heads", Role::lower_step);
  }
  [[nodiscard]] static MethodTraits traits() { return {.upper = {.method = UpperMethod::adam}}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class FewShot::Run final : public MethodRun<Tensors> {
public:
  Run(const FewShot &options, const P & /*problem*/, const State<Tensors> & /*start*/)
      : learner_(options.learner), sizes_{.alpha = options.alpha, .beta = options.head_step} {}

  /// The state is the learner's own.
  StepReport step(State<Tensors> & /*state*/, std::int64_t /*k*/, UpperUpdate<Tensors> & /*upper*/) override {
    const std::string failure = learner_->step();
    return {.steps = sizes_,
            .failure = failure.empty() ? failure : "lower level: " + failure,
            .ahead = learner_->runs_ahead()};
  }
  [[nodiscard]] const Tensors &direction() const override { return learner_->direction(); }
  void stop_running_ahead() override { learner_->stop_running_ahead(); }
  template <class Archive> void archive(Archive &members) { learner_->archive(members); }

private:
  Learner *learner_;
  StepSizes sizes_;
};

} // namespace

Summary learn(Learner &learner, const Options &options, const Monitor<Tensors> &monitor) {
  const FewShot method{
      .learner = &learner, .alpha = learner.settings().alpha, .head_step = learner.settings().head_step};
  return solve(learner.problem(), method, learner.state(), options, monitor);
}

} // namespace duplex::fewshot
