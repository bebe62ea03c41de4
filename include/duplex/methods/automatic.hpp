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
#include <utility>

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

/// An opening, the type of its problem forgotten.
template <VectorSpace V> class AnyOpening {
public:
  AnyOpening() = default;
  AnyOpening(const AnyOpening &) = delete;
  AnyOpening &operator=(const AnyOpening &) = delete;
  virtual ~AnyOpening() = default;

  virtual StepReport step(State<V> &s) = 0;
  [[nodiscard]] virtual bool over() const = 0;
  [[nodiscard]] virtual const V &direction() const = 0;
  [[nodiscard]] virtual std::string explanation() const = 0;
  virtual void archive(StateWriter &members) = 0;
  virtual void archive(StateReader &members) = 0;
};

template <SecondOrderProblem P> class OpeningOf final : public AnyOpening<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  OpeningOf(const P &problem, double scale_of_x, bool fused, const State<V> &start)
      : opening_(problem, scale_of_x, fused, start) {}

  StepReport step(State<V> &s) override { return opening_.step(s); }
  [[nodiscard]] bool over() const override { return opening_.over(); }
  [[nodiscard]] const V &direction() const override { return opening_.direction(); }
  [[nodiscard]] std::string explanation() const override { return opening_.explanation(); }
  void archive(StateWriter &members) override { opening_.archive(members); }
  void archive(StateReader &members) override { opening_.archive(members); }

private:
  Opening<P> opening_;
};

template <SecondOrderProblem P>
[[nodiscard]] std::unique_ptr<AnyOpening<VectorOf<P>>> make_opening(const P &problem, double scale_of_x, bool fused,
                                                                    const State<VectorOf<P>> &start) {
  return std::make_unique<OpeningOf<P>>(problem, scale_of_x, fused, start);
}

/// The opening, where there is one, and then the governor.
template <VectorSpace V> class OpenedRun final : public AnyRun<V> {
public:
  OpenedRun(const Automatic &options, const ProblemView<V> &problem, std::unique_ptr<AnyOpening<V>> opening,
            const State<V> &start)
      : problem_(problem), options_{.tolerance = options.tolerance}, opening_(std::move(opening)),
        direction_before_(zeros_like(start.x)) {
    governor_.emplace(problem_, start, options_);
  }

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    if (!opening_ || opening_->over()) {
      return governor_->step(s);
    }
    StepReport report = opening_->step(s);
    if (opening_->over()) {
      governor_->start_at(s);
    }
    return report;
  }

  [[nodiscard]] const V &direction() const override {
    if (is_opening()) {
      return opening_->direction();
    }
    return new_beginnings_ > 0 && !governor_->has_begun() ? direction_before_ : governor_->direction();
  }
  [[nodiscard]] std::string explanation() const override {
    const std::string of_opening = opening_ ? opening_->explanation() : "";
    return is_opening() ? of_opening
                        : of_opening + (opening_ ? "\n" : "") + governor_->explanation() + text_of_new_beginnings();
  }
  /// A state that was reached already is no place to open from.
  void start_from_before() override { opening_.reset(); }
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<V> &truth) override {
    return governor_->learn(verdict, truth);
  }
  [[nodiscard]] bool solves_at_start() const override { return !opening_; }
  void begin_at(const SlopeMeter<V> &truth) override { governor_->begin_at(truth); }
  /// What a run has learnt far away may be what keeps it from improving, or from a step that can be done: it begins
  /// anew, with the same goal, as long as it has come nearer since it began.
  [[nodiscard]] bool begin_anew(const State<V> &at, const Verdict &verdict, const SlopeMeter<V> &truth) override {
    constexpr int most_beginnings = 10;
    constexpr double nearer = 0.5;
    const double before = new_beginnings_ > 0 ? slope_where_begun_ : verdict.first.norm;
    const bool could_not_begin = new_beginnings_ == 0 && norm(governor_->direction()) == 0.0; // y was not found
    if (governor_->has_no_end() || new_beginnings_ == most_beginnings ||
        !(could_not_begin || verdict.slope.norm <= nearer * before)) {
      return false;
    }
    ++new_beginnings_;
    slope_where_begun_ = verdict.slope.norm;
    direction_before_ = governor_->direction();
    governor_.emplace(problem_, at, options_);
    return governor_->learn(verdict, truth);
  }

  void archive(StateWriter &members) override { walk(members); }
  void archive(StateReader &members) override { walk(members); }

private:
  template <class Archive> void walk(Archive &members) {
    if (opening_) {
      members("opening", *opening_);
    }
    members("new beginnings", new_beginnings_);
    members("slope where begun", slope_where_begun_);
    members("direction before", direction_before_);
    members("governor", *governor_);
  }

  [[nodiscard]] bool is_opening() const { return opening_ && new_beginnings_ == 0 && !governor_->has_begun(); }
  [[nodiscard]] std::string text_of_new_beginnings() const {
    return new_beginnings_ == 0
               ? ""
               : "\nbegun anew " + std::to_string(new_beginnings_) + (new_beginnings_ == 1 ? " time" : " times") +
                     ", where nothing improved any more or a step could not be done";
  }

  ProblemView<V> problem_;
  GovernorOptions options_;
  std::unique_ptr<AnyOpening<V>> opening_;
  std::optional<Governor<V>> governor_; ///< always there
  int new_beginnings_ = 0;
  double slope_where_begun_ = 0.0; ///< ‖∇φ‖ where it was begun anew
  V direction_before_;             ///< d of the step after which it was
};

template <VectorSpace V>
[[nodiscard]] std::unique_ptr<AnyRun<V>> make_run(const Automatic &options, const ProblemView<V> &problem,
                                                  std::unique_ptr<AnyOpening<V>> opening, const State<V> &start) {
  return std::make_unique<OpenedRun<V>>(options, problem, std::move(opening), start);
}

// Compiled once, in the library: a program that calls it compiles none of the above but the opening, and that only
// where its problem has a fused step of its own.
extern template std::unique_ptr<AnyOpening<Eigen::VectorXd>> make_opening(const ProblemView<Eigen::VectorXd> &, double,
                                                                          bool, const State<Eigen::VectorXd> &);
extern template std::unique_ptr<AnyOpening<Eigen::VectorXf>> make_opening(const ProblemView<Eigen::VectorXf> &, double,
                                                                          bool, const State<Eigen::VectorXf> &);
extern template std::unique_ptr<AnyRun<Eigen::VectorXd>> make_run(const Automatic &,
                                                                  const ProblemView<Eigen::VectorXd> &,
                                                                  std::unique_ptr<AnyOpening<Eigen::VectorXd>>,
                                                                  const State<Eigen::VectorXd> &);
extern template std::unique_ptr<AnyRun<Eigen::VectorXf>> make_run(const Automatic &,
                                                                  const ProblemView<Eigen::VectorXf> &,
                                                                  std::unique_ptr<AnyOpening<Eigen::VectorXf>>,
                                                                  const State<Eigen::VectorXf> &);

} // namespace automatic

template <SecondOrderProblem P> class Automatic::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Automatic &options, const P &problem, const State<V> &start) {
    const ProblemView<V> view(problem);
    const double scale_of_x = options.upper_scale > 0.0 ? options.upper_scale : duplex::upper_scale(problem);
    std::unique_ptr<automatic::AnyOpening<V>> begins_with;
    if (options.opening && scale_of_x > 0.0) {
      if constexpr (FusedProblem<P>) { // whose own step the opening takes
        begins_with = automatic::make_opening(problem, scale_of_x, options.fused, start);
      } else {
        begins_with = automatic::make_opening(view, scale_of_x, options.fused, start);
      }
    }
    run_ = automatic::make_run(options, view, std::move(begins_with), start);
  }

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> &upper) override { return run_->step(s, k, upper); }
  [[nodiscard]] const V &direction() const override { return run_->direction(); }
  [[nodiscard]] std::string explanation() const override { return run_->explanation(); }
  void start_from_before() override { run_->start_from_before(); }
  [[nodiscard]] bool solves_at_start() const override { return run_->solves_at_start(); }
  void begin_at(const SlopeMeter<V> &truth) override { run_->begin_at(truth); }
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<V> &truth) override {
    return run_->learn(verdict, truth);
  }
  [[nodiscard]] bool begin_anew(const State<V> &at, const Verdict &verdict, const SlopeMeter<V> &truth) override {
    return run_->begin_anew(at, verdict, truth);
  }
  template <class Archive> void archive(Archive &members) { run_->archive(members); }

private:
  std::unique_ptr<automatic::AnyRun<V>> run_;
};

} // namespace duplex
