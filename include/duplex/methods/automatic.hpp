#pragma once
// A run that needs no steps. Where the scale of x is known it opens with single steps of Algorithm 1, whose step sizes
// it measures (automatic/opening.hpp); then, or from the start, it solves for y and v by conjugate gradients as well as
// each step of x needs, and moves x by limited-memory BFGS (automatic/governor.hpp). It ends where ‖∇φ‖ is verified to
// be small beside ‖∇φ(x₀)‖.
//
// Cost and memory are the governor's. Needs a problem that is the same at every step.

#include <duplex/method.hpp>
#include <duplex/methods/automatic/governor.hpp>
#include <duplex/methods/automatic/opening.hpp>
#include <duplex/problem/fused.hpp>
#include <duplex/problem/problem_view.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace duplex {

struct Automatic {
  static constexpr std::string_view name = "automatic";
  static constexpr std::string_view title = "Chooses its own steps: single steps first, then quasi-Newton on x";

  double tolerance = 1e-5;
  bool opening = true;
  double upper_scale = 0.0;
  bool fused = true;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("tolerance", self.tolerance, Bound{.low = 0.0, .high = 1.0, .low_open = true, .high_open = true},
          "stop when the hypergradient is verified to be this small beside the first exact one");
    visit("opening", self.opening, any_number, "open with single steps where the scale of x is known");
    visit("upper-scale", self.upper_scale, finite_non_negative, "a change of x that matters (0: as the problem says)");
    visit("fused", self.fused, any_number, "open with the problem's fused step where it has one");
  }

  [[nodiscard]] MethodTraits traits() const { return {.solves_inside = true, .own_tolerance = tolerance}; }

  template <SecondOrderProblem P> class Run;
};

namespace automatic {

/// A run whose type is forgotten.
template <VectorSpace V> class AnyRun : public MethodRun<V> {
public:
  virtual void archive(StateWriter &members) = 0;
  virtual void archive(StateReader &members) = 0;
};

/// The opening, and then the governor.
template <SecondOrderProblem P> class OpenedRun final : public AnyRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  OpenedRun(const Automatic &options, const P &problem, const ProblemView<V> &view, double scale_of_x,
            const State<V> &start)
      : governor_(view, start, {.tolerance = options.tolerance}) {
    if (options.opening && scale_of_x > 0.0) {
      opening_.emplace(problem, scale_of_x, options.fused, start);
    }
  }

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    if (!opening_ || opening_->over()) {
      return governor_.step(s);
    }
    StepReport report = opening_->step(s);
    if (opening_->over()) {
      governor_.start_at(s);
    }
    return report;
  }

  [[nodiscard]] const V &direction() const override {
    return opening_ && !governor_.has_begun() ? opening_->direction() : governor_.direction();
  }
  [[nodiscard]] std::string explanation() const override {
    if (!opening_) {
      return governor_.explanation();
    }
    return opening_->explanation() + (governor_.has_begun() ? "\n" + governor_.explanation() : "");
  }
  /// A state that was reached already is no place to open from.
  void start_from_before() override { opening_.reset(); }
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<V> &truth) override {
    return governor_.learn(verdict, truth);
  }

  void archive(StateWriter &members) override { walk(members); }
  void archive(StateReader &members) override { walk(members); }

private:
  template <class Archive> void walk(Archive &members) {
    members("opening", opening_);
    members("governor", governor_);
  }

  std::optional<Opening<P>> opening_;
  Governor<V> governor_;
};

template <SecondOrderProblem P>
[[nodiscard]] std::unique_ptr<AnyRun<VectorOf<P>>> make_run(const Automatic &options, const P &problem,
                                                            const ProblemView<VectorOf<P>> &view, double scale_of_x,
                                                            const State<VectorOf<P>> &start) {
  return std::make_unique<OpenedRun<P>>(options, problem, view, scale_of_x, start);
}
// Compiled once, in the library: a program that calls it compiles none of the above.
extern template std::unique_ptr<AnyRun<Eigen::VectorXd>> make_run(const Automatic &,
                                                                  const ProblemView<Eigen::VectorXd> &,
                                                                  const ProblemView<Eigen::VectorXd> &, double,
                                                                  const State<Eigen::VectorXd> &);
extern template std::unique_ptr<AnyRun<Eigen::VectorXf>> make_run(const Automatic &,
                                                                  const ProblemView<Eigen::VectorXf> &,
                                                                  const ProblemView<Eigen::VectorXf> &, double,
                                                                  const State<Eigen::VectorXf> &);

} // namespace automatic

template <SecondOrderProblem P> class Automatic::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Automatic &options, const P &problem, const State<V> &start) {
    const ProblemView<V> view(problem);
    const double scale_of_x = options.upper_scale > 0.0 ? options.upper_scale : duplex::upper_scale(problem);
    if constexpr (FusedProblem<P>) { // whose own step the opening takes
      run_ = automatic::make_run(options, problem, view, scale_of_x, start);
    } else {
      run_ = automatic::make_run(options, view, view, scale_of_x, start);
    }
  }

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> &upper) override { return run_->step(s, k, upper); }
  [[nodiscard]] const V &direction() const override { return run_->direction(); }
  [[nodiscard]] std::string explanation() const override { return run_->explanation(); }
  void start_from_before() override { run_->start_from_before(); }
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<V> &truth) override {
    return run_->learn(verdict, truth);
  }
  template <class Archive> void archive(Archive &members) { run_->archive(members); }

private:
  std::unique_ptr<automatic::AnyRun<V>> run_;
};

} // namespace duplex
