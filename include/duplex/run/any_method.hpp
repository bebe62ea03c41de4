#pragma once
// A method on a problem whose types are forgotten, so that the loop is compiled once for each kind of vector.

#include <duplex/method.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/run/step_options.hpp>

#include <optional>
#include <string_view>

namespace duplex::detail {

/// A method, with its run on a problem.
template <VectorSpace V> class AnyMethod {
public:
  AnyMethod() = default;
  AnyMethod(const AnyMethod &) = delete;
  AnyMethod &operator=(const AnyMethod &) = delete;
  virtual ~AnyMethod() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual MethodTraits traits() const = 0;
  [[nodiscard]] virtual StepOptions steps() const = 0;
  /// Sets the step sizes of runs that begin after this.
  virtual void set_steps(const StepOptions &steps) = 0;
  /// The problem, with its evaluations counted.
  [[nodiscard]] virtual ProblemView<V> problem() const = 0;

  /// Makes a new run of the method, from `start`.
  void begin(const State<V> &start) { run_ = &new_run(start); }
  /// The last one that was begun.
  [[nodiscard]] MethodRun<V> &run() { return *run_; }
  /// Writes, or reads back, what the run carries from step to step.
  virtual void archive(StateWriter &members) = 0;
  virtual void archive(StateReader &members) = 0;

private:
  [[nodiscard]] virtual MethodRun<V> &new_run(const State<V> &start) = 0;

  MethodRun<V> *run_ = nullptr; ///< asked for at every step, of which the smallest take as long as a few virtual calls
};

template <class S, SecondOrderProblem P> class MethodOf final : public AnyMethod<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  MethodOf(const S &method, const P &problem) : method_(method), problem_(&problem) {}

  [[nodiscard]] std::string_view name() const override { return S::name; }
  [[nodiscard]] MethodTraits traits() const override { return method_.traits(); }
  [[nodiscard]] StepOptions steps() const override { return StepOptions::of(method_); }
  void set_steps(const StepOptions &steps) override { steps.apply_to(method_); }
  [[nodiscard]] ProblemView<V> problem() const override { return ProblemView<V>(*problem_); }

  void archive(StateWriter &members) override { run_->archive(members); }
  void archive(StateReader &members) override { run_->archive(members); }

private:
  [[nodiscard]] MethodRun<V> &new_run(const State<V> &start) override {
    return run_.emplace(method_, *problem_, start);
  }

  S method_;
  const P *problem_;
  std::optional<typename S::template Run<P>> run_;
};

} // namespace duplex::detail
