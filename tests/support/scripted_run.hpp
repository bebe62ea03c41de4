#pragma once
// A problem in two numbers and a method whose steps are the test's own words, so that each part of the loop can be
// tested by itself.

#include "support.hpp"

#include <duplex/run/context.hpp>

#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace duplex::testing {

/// f = ½c(y − x)² and F = ½x² + ½y², so that y* = x, v* = x/c, φ = x² and ∇φ = 2x. Where a level is said to break, its
/// loss and its derivatives are NaN.
class TwoSquares {
public:
  using Vector = Vec;
  using Breaks = std::function<bool(double x, double y)>;

  explicit TwoSquares(double curvature = 1.0, Breaks lower = {}, Breaks upper = {})
      : curvature_(curvature), lower_breaks_(std::move(lower)), upper_breaks_(std::move(upper)) {}

  class Lower : public Point<Vec> {
  public:
    explicit Lower(const TwoSquares &problem) : problem_(&problem) {}
    [[nodiscard]] double value() const { return 0.5 * problem_->curvature_ * (y() - x()).squaredNorm() + added(); }
    void grad_y(Vec &out) const { out = problem_->curvature_ * (y() - x()).array() + added(); }
    void hess_yy(const Vec &v, Vec &out) const { out = problem_->curvature_ * v.array() + added(); }
    void cross_xy(const Vec &v, Vec &out) const { out = -problem_->curvature_ * v.array() + added(); }

  private:
    [[nodiscard]] double added() const { return nan_where(problem_->lower_breaks_, x(), y()); }
    const TwoSquares *problem_;
  };

  class Upper : public Point<Vec> {
  public:
    explicit Upper(const TwoSquares &problem) : problem_(&problem) {}
    [[nodiscard]] double value() const { return 0.5 * x().squaredNorm() + 0.5 * y().squaredNorm() + added(); }
    void grad_x(Vec &out) const { out = x().array() + added(); }
    void grad_y(Vec &out) const { out = y().array() + added(); }

  private:
    [[nodiscard]] double added() const { return nan_where(problem_->upper_breaks_, x(), y()); }
    const TwoSquares *problem_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] static Index x_size() { return 1; }
  [[nodiscard]] static Index y_size() { return 1; }

private:
  [[nodiscard]] static double nan_where(const Breaks &breaks, const Vec &x, const Vec &y) {
    return breaks && breaks(x[0], y[0]) ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  }

  double curvature_;
  Breaks lower_breaks_;
  Breaks upper_breaks_;
};

[[nodiscard]] inline Vec number(double value) { return Vec::Constant(1, value); }
[[nodiscard]] inline State<Vec> numbers(double x, double y, double v) { return {number(x), number(y), number(v)}; }

/// Does nothing by itself, and remembers what the loop's parts tell it.
class ScriptedMethod final : public detail::AnyMethod<Vec>, public MethodRun<Vec> {
public:
  explicit ScriptedMethod(const TwoSquares &problem) : problem_(&problem) {}

  // The method.
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] MethodTraits traits() const override { return {}; }
  [[nodiscard]] StepOptions steps() const override { return step_options; }
  void set_steps(const StepOptions &steps) override { step_options = steps; }
  [[nodiscard]] ProblemView<Vec> problem() const override { return ProblemView<Vec>(*problem_); }
  void archive(StateWriter & /*members*/) override {}
  void archive(StateReader & /*members*/) override {}

  // Its run.
  StepReport step(State<Vec> & /*state*/, std::int64_t /*k*/, UpperUpdate<Vec> & /*upper*/) override { return {}; }
  [[nodiscard]] const Vec &direction() const override { return d; }
  void start_from_before() override { ++times_from_before; }
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<Vec> & /*truth*/) override {
    learned = verdict;
    return has_more_to_try;
  }
  [[nodiscard]] bool begin_anew(const State<Vec> & /*at*/, const Verdict &verdict,
                                const SlopeMeter<Vec> & /*truth*/) override {
    learned = verdict;
    return begins_anew;
  }

  [[nodiscard]] bool solves_at_start() const override { return asks_for_start; }
  void begin_at(const SlopeMeter<Vec> &truth) override { known_start = truth.y(); }

  StepOptions step_options{{{Role::upper_step, "alpha", 0.1}, {Role::lower_step, "beta", 0.5}}};
  Vec d = Vec::Zero(1);
  Verdict learned;
  Vec known_start; ///< empty where it was not told
  bool asks_for_start = true;
  bool has_more_to_try = false;
  bool begins_anew = false;
  int times_begun = 0; ///< since the run was made
  int times_from_before = 0;

private:
  [[nodiscard]] MethodRun<Vec> &new_run(const State<Vec> & /*start*/) override {
    ++times_begun;
    return *this;
  }

  const TwoSquares *problem_;
};

/// All that a part of the loop looks at, from x = 1, y = 0 and v = 0.
struct ScriptedRun {
  explicit ScriptedRun(Options given = {}, MethodTraits traits = {}, TwoSquares of = TwoSquares())
      : problem(std::move(of)), options(given), method(problem),
        meter(options), context{
                            .subject = {.problem = ProblemView<Vec>(problem), .measured = ProblemView<Vec>(problem)},
                            .method = &method,
                            .traits = traits,
                            .meter = &meter,
                            .state = &state,
                            .options = &options} {
    method.begin(state);
    method.times_begun = 0;
  }
  ScriptedRun(const ScriptedRun &) = delete; // its members point to one another
  ScriptedRun &operator=(const ScriptedRun &) = delete;
  ~ScriptedRun() = default;

  TwoSquares problem;
  Options options;
  State<Vec> state = numbers(1.0, 0.0, 0.0);
  ScriptedMethod method;
  detail::RunMeter meter;
  detail::RunContext<Vec> context;
};

/// What `part` remembers, read by `other`.
template <class Part> void hand_over(Part &part, Part &other) {
  SavedState saved;
  StateWriter writer(saved);
  part.archive(writer);
  StateReader reader(saved);
  other.archive(reader);
}

} // namespace duplex::testing
