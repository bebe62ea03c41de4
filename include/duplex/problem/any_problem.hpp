#pragma once
// A problem whose type is forgotten: what the command line, the race and language
// bindings hold. Solvers run on it as on any other; a call costs one indirection.

#include <duplex/problem/finite_sum.hpp>
#include <duplex/problem/fused.hpp>
#include <duplex/problem/offered.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/problem/problem_view.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace duplex {

template <VectorSpace V> class AnyProblem {
  struct FusedBase {
    virtual ~FusedBase() = default;
    [[nodiscard]] virtual bool supports(DualStep rule, bool mixes) const = 0;
    virtual void begin(const State<V> &start) = 0;
    virtual double step(State<V> &state, const StepSizes &steps, const FusedRules<V> &rules, UpperUpdate<V> &move,
                        V &d) = 0;
    virtual void archive(StateWriter &members) = 0;
    virtual void archive(StateReader &members) = 0;
  };

  template <class F> struct FusedStep final : FusedBase {
    explicit FusedStep(F fused) : inner(std::move(fused)) {}
    [[nodiscard]] bool supports(DualStep rule, bool mixes) const override { return inner.supports(rule, mixes); }
    void begin(const State<V> &start) override { inner.begin(start); }
    double step(State<V> &state, const StepSizes &steps, const FusedRules<V> &rules, UpperUpdate<V> &move,
                V &d) override {
      return inner.step(state, steps, rules, move, d);
    }
    void archive(StateWriter &members) override { inner.archive(members); }
    void archive(StateReader &members) override { inner.archive(members); }
    F inner;
  };

  struct Base {
    virtual ~Base() = default;
    [[nodiscard]] virtual AnyLower<V> lower() const = 0;
    [[nodiscard]] virtual AnyUpper<V> upper() const = 0;
    [[nodiscard]] virtual Batches batches() const = 0;
    [[nodiscard]] virtual Batch lower_batch(Index number) const = 0;
    [[nodiscard]] virtual Batch upper_batch(Index number) const = 0;
    [[nodiscard]] virtual AnyLower<V> lower(const Batch &batch) const = 0;
    [[nodiscard]] virtual AnyUpper<V> upper(const Batch &batch) const = 0;
    [[nodiscard]] virtual AnyLower<V> whole_lower() const = 0;
    [[nodiscard]] virtual AnyUpper<V> whole_upper() const = 0;
    [[nodiscard]] virtual std::unique_ptr<FusedBase> fused() const = 0;
    [[nodiscard]] virtual Index x_size() const = 0;
    [[nodiscard]] virtual Index y_size() const = 0;
    [[nodiscard]] virtual State<V> start() const = 0;
    [[nodiscard]] virtual std::optional<Answer<V>> answer() const = 0;
    [[nodiscard]] virtual bool offers_aggregation() const = 0;
    [[nodiscard]] virtual double upper_scale() const = 0;
    [[nodiscard]] virtual Box<V> box() const = 0;
    [[nodiscard]] virtual V x_scale() const = 0;
    [[nodiscard]] virtual V y_scale() const = 0;
    [[nodiscard]] virtual std::optional<double> held_out(const V &x, const V &y) const = 0;
    virtual bool respond(const V &x, V &y, V &v) const = 0;
  };

  template <class P> struct Holder final : Base {
    explicit Holder(P held) : problem(std::move(held)) {}
    [[nodiscard]] AnyLower<V> lower() const override { return AnyLower<V>(problem.lower()); }
    [[nodiscard]] AnyUpper<V> upper() const override { return AnyUpper<V>(problem.upper()); }
    [[nodiscard]] Batches batches() const override { return by_batches().batches(); }
    [[nodiscard]] Batch lower_batch(Index number) const override { return by_batches().lower_batch(number); }
    [[nodiscard]] Batch upper_batch(Index number) const override { return by_batches().upper_batch(number); }
    [[nodiscard]] AnyLower<V> lower(const Batch &batch) const override {
      return AnyLower<V>(by_batches().lower(batch));
    }
    [[nodiscard]] AnyUpper<V> upper(const Batch &batch) const override {
      return AnyUpper<V>(by_batches().upper(batch));
    }
    [[nodiscard]] AnyLower<V> whole_lower() const override { return AnyLower<V>(by_batches().whole_lower()); }
    [[nodiscard]] AnyUpper<V> whole_upper() const override { return AnyUpper<V>(by_batches().whole_upper()); }
    [[nodiscard]] BatchView<P> by_batches() const { return BatchView<P>(problem); }
    [[nodiscard]] std::unique_ptr<FusedBase> fused() const override {
      if constexpr (FusedProblem<P>) {
        if (auto step = problem.fused_bagdc()) {
          return std::make_unique<FusedStep<FusedOf<P>>>(std::move(*step));
        }
      }
      return nullptr;
    }
    [[nodiscard]] Index x_size() const override { return problem.x_size(); }
    [[nodiscard]] Index y_size() const override { return problem.y_size(); }
    [[nodiscard]] State<V> start() const override { return problem.start(); }
    [[nodiscard]] std::optional<Answer<V>> answer() const override {
      if constexpr (AnsweredProblem<P>) {
        return problem.answer();
      } else {
        return std::nullopt;
      }
    }
    [[nodiscard]] bool offers_aggregation() const override { return duplex::offers_aggregation(problem); }
    [[nodiscard]] double upper_scale() const override { return duplex::upper_scale(problem); }
    [[nodiscard]] Box<V> box() const override { return box_of(problem); }
    [[nodiscard]] V x_scale() const override { return duplex::x_scale(problem); }
    [[nodiscard]] V y_scale() const override { return duplex::y_scale(problem); }
    [[nodiscard]] std::optional<double> held_out(const V &x, const V &y) const override {
      if constexpr (HeldOutProblem<P>) {
        return problem.held_out(x, y);
      } else {
        return std::nullopt;
      }
    }
    bool respond(const V &x, V &y, V &v) const override {
      if constexpr (ClosedFormLower<P>) {
        return problem.respond(x, y, v);
      } else {
        return false;
      }
    }
    P problem;
  };

public:
  using Vector = V;

  /// Holds a copy of (or takes over) a problem that carries its start.
  template <BatchedProblem P>
  requires StartedProblem<P> &&(!std::same_as<P, AnyProblem>)
      // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): forgetting a type is meant to be silent
      AnyProblem(P problem)
      : held_(std::make_shared<const Holder<P>>(std::move(problem))) {}

  class Fused {
  public:
    explicit Fused(std::unique_ptr<FusedBase> inner) : inner_(std::move(inner)) {}
    [[nodiscard]] bool supports(DualStep rule, bool mixes) const { return inner_->supports(rule, mixes); }
    void begin(const State<V> &start) { inner_->begin(start); }
    double step(State<V> &state, const StepSizes &steps, const FusedRules<V> &rules, UpperUpdate<V> &move, V &d) {
      return inner_->step(state, steps, rules, move, d);
    }
    template <class Archive> void archive(Archive &members) { inner_->archive(members); }

  private:
    std::unique_ptr<FusedBase> inner_;
  };

  [[nodiscard]] AnyLower<V> lower() const { return held_->lower(); }
  [[nodiscard]] AnyUpper<V> upper() const { return held_->upper(); }
  // Of one that is drawn in batches; of any other, all of it is the one batch.
  [[nodiscard]] Batches batches() const { return held_->batches(); }
  [[nodiscard]] Batch lower_batch(Index number) const { return held_->lower_batch(number); }
  [[nodiscard]] Batch upper_batch(Index number) const { return held_->upper_batch(number); }
  [[nodiscard]] AnyLower<V> lower(const Batch &batch) const { return held_->lower(batch); }
  [[nodiscard]] AnyUpper<V> upper(const Batch &batch) const { return held_->upper(batch); }
  [[nodiscard]] AnyLower<V> whole_lower() const { return held_->whole_lower(); }
  [[nodiscard]] AnyUpper<V> whole_upper() const { return held_->whole_upper(); }
  [[nodiscard]] Index x_size() const { return held_->x_size(); }
  [[nodiscard]] Index y_size() const { return held_->y_size(); }
  [[nodiscard]] State<V> start() const { return held_->start(); }
  [[nodiscard]] std::optional<Answer<V>> answer() const { return held_->answer(); }
  [[nodiscard]] bool offers_aggregation() const { return held_->offers_aggregation(); }
  [[nodiscard]] double upper_scale() const { return held_->upper_scale(); }
  [[nodiscard]] Box<V> box() const { return held_->box(); }
  [[nodiscard]] V x_scale() const { return held_->x_scale(); }
  [[nodiscard]] V y_scale() const { return held_->y_scale(); }
  [[nodiscard]] std::optional<double> held_out(const V &x, const V &y) const { return held_->held_out(x, y); }
  bool respond(const V &x, V &y, V &v) const { return held_->respond(x, y, v); }
  [[nodiscard]] std::optional<Fused> fused_bagdc() const {
    auto fused = held_->fused();
    return fused ? std::optional<Fused>(std::in_place, std::move(fused)) : std::nullopt;
  }

private:
  std::shared_ptr<const Base> held_;
};

} // namespace duplex
