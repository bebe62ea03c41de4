#pragma once
// How often a run evaluated what. Counting wraps the problem, so that neither problems
// nor solvers count.

#include <duplex/core/clock.hpp>
#include <duplex/problem/finite_sum.hpp>
#include <duplex/problem/fused.hpp>
#include <duplex/problem/offered.hpp>
#include <duplex/problem/output_sizes.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/problem/problem_view.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace duplex {

struct Counters {
  std::int64_t values = 0;           ///< f or F
  std::int64_t gradients = 0;        ///< ∇y f, ∇x F, ∇y F, each counted as one
  std::int64_t hessian_products = 0; ///< ∇²yy f·v, and ∇²yy F·v where aggregated
  std::int64_t cross_products = 0;   ///< ∇²xy f·v, and ∇²xy F·v where aggregated
  /// Passes of gradients and products over the samples of a level: a batch counts as the part that it is.
  double lower_passes = 0.0;
  double upper_passes = 0.0;

  [[nodiscard]] std::int64_t products() const { return hessian_products + cross_products; }
  /// By which runs are compared.
  [[nodiscard]] std::int64_t gradients_and_products() const { return gradients + products(); }
  template <class Archive> void archive(Archive &members) {
    members("values", values);
    members("gradients", gradients);
    members("hessian products", hessian_products);
    members("cross products", cross_products);
    members("lower passes", lower_passes);
    members("upper passes", upper_passes);
  }
  bool operator==(const Counters &) const = default;
  Counters &operator+=(const Counters &more) {
    values += more.values;
    gradients += more.gradients;
    hessian_products += more.hessian_products;
    cross_products += more.cross_products;
    lower_passes += more.lower_passes;
    upper_passes += more.upper_passes;
    return *this;
  }
  [[nodiscard]] Counters operator-(const Counters &less) const {
    return {values - less.values,
            gradients - less.gradients,
            hessian_products - less.hessian_products,
            cross_products - less.cross_products,
            lower_passes - less.lower_passes,
            upper_passes - less.upper_passes};
  }
};

/// What counts the evaluations of a level.
struct LevelCounter {
  Counters *counters;
  double Counters::*passes; ///< over the level's samples
  double part = 1.0;        ///< of them, that an evaluation sees
};

/// An evaluation that counts. It offers exactly what the inner one offers.
template <class E, class V> class CountedEvaluation {
public:
  CountedEvaluation(E inner, const char *level, LevelCounter counter, WorkLimit *limit)
      : inner_(std::move(inner)), sizes_(level), counters_(counter.counters),
        passes_(&(counter.counters->*counter.passes)), part_(counter.part), limit_(limit) {}

  void at(const V &x, const V &y) {
    sizes_.at(x, y);
    inner_.at(x, y);
  }

  void expect_gradients_alone() { duplex::expect_gradients_alone(inner_); }

  [[nodiscard]] double value() {
    ++counters_->values;
    return inner_.value();
  }

  [[nodiscard]] bool offers_grad_x() const requires requires(const E &e) { e.offers_grad_x(); }
  { return inner_.offers_grad_x(); }
  void grad_x(V &out) requires OffersGradX<E, V> {
    count(counters_->gradients);
    sizes_.like_x(out, "grad_x", [&] { inner_.grad_x(out); });
  }

  void grad_y(V &out) {
    if (limit_ != nullptr) {
      limit_->check();
    }
    count(counters_->gradients);
    sizes_.like_y(out, "grad_y", [&] { inner_.grad_y(out); });
  }

  void hess_yy(const V &v, V &out) requires OffersSecondOrder<E, V> {
    if (limit_ != nullptr) {
      limit_->check();
    }
    count(counters_->hessian_products);
    sizes_.like_y(out, "hess_yy", [&] { inner_.hess_yy(v, out); });
  }

  void cross_xy(const V &v, V &out) requires OffersSecondOrder<E, V> {
    count(counters_->cross_products);
    sizes_.like_x(out, "cross_xy", [&] { inner_.cross_xy(v, out); });
  }

  void both_products(const V &v, V &hess, V &cross) requires requires(E e, const V &in, V &out) {
    e.both_products(in, out, out);
  }
  {
    if (limit_ != nullptr) {
      limit_->check();
    }
    count(counters_->hessian_products);
    count(counters_->cross_products);
    sizes_.like_y(hess, "both_products",
                  [&] { sizes_.like_x(cross, "both_products", [&] { inner_.both_products(v, hess, cross); }); });
  }

  // No product of the problem's derivatives: it is not counted.
  [[nodiscard]] OfferedInverse offered_inverse() const { return duplex::offered_inverse<V>(inner_); }
  void apply_offered_inverse(const V &v, V &out) {
    if (limit_ != nullptr) {
      limit_->check();
    }
    sizes_.like_y(out, "precondition or solve_lower", [&] { duplex::apply_offered_inverse(inner_, v, out); });
  }

private:
  void count(std::int64_t &calls) {
    ++calls;
    *passes_ += part_;
  }

  E inner_;
  OutputSizes<V> sizes_;
  Counters *counters_;
  double *passes_;
  double part_;
  WorkLimit *limit_;
};

/// The fused step evaluates what the general step does, so it counts the same.
template <class F, class V> class CountedFused {
public:
  CountedFused(F inner, Counters &counters) : inner_(std::move(inner)), counters_(&counters) {}

  [[nodiscard]] bool supports(DualStep rule, bool mixes) const { return inner_.supports(rule, mixes); }
  void begin(const State<V> &start) { inner_.begin(start); }
  double step(State<V> &state, const StepSizes &steps, const FusedRules<V> &rules, UpperUpdate<V> &move, V &d) {
    counters_->gradients += 3;
    counters_->hessian_products += rules.dual == DualStep::constant ? 1 : 2;
    counters_->cross_products += 1;
    counters_->lower_passes += rules.dual == DualStep::constant ? 3.0 : 4.0;
    counters_->upper_passes += 2.0;
    return inner_.step(state, steps, rules, move, d);
  }
  template <class Archive> void archive(Archive &members) { inner_.archive(members); }

private:
  F inner_;
  Counters *counters_;
};

/// A problem whose evaluations are counted.
template <FirstOrderProblem P> class Counted {
public:
  using Vector = VectorOf<P>;
  using Lower = CountedEvaluation<LowerOf<P>, Vector>;
  using Upper = CountedEvaluation<UpperOf<P>, Vector>;

  /// Where a limit is given, products check it.
  Counted(const P &problem, Counters &counters, WorkLimit *limit = nullptr)
      : problem_(&problem), counters_(&counters), limit_(limit) {}

  [[nodiscard]] Lower lower() const { return counted_lower(problem_->lower(), part_of_lower()); }
  [[nodiscard]] Upper upper() const { return counted_upper(problem_->upper(), part_of_upper()); }

  // What a method may ask of a problem that is drawn in batches (finite_sum.hpp).
  static constexpr bool forgets_samples = !BatchedProblem<P>;
  static constexpr bool has_batches = requires(const P &problem) { problem.batches(); };
  [[nodiscard]] Batches batches() const requires(has_batches) { return problem_->batches(); }
  [[nodiscard]] Batch lower_batch(Index number) const requires(has_batches) { return problem_->lower_batch(number); }
  [[nodiscard]] Batch upper_batch(Index number) const requires(has_batches) { return problem_->upper_batch(number); }
  [[nodiscard]] Lower lower(const Batch &batch) const requires(has_batches) {
    return counted_lower(problem_->lower(batch), part_of_lower());
  }
  [[nodiscard]] Upper upper(const Batch &batch) const requires(has_batches) {
    return counted_upper(problem_->upper(batch), part_of_upper());
  }
  [[nodiscard]] auto whole_lower() const requires(has_batches) { return counted_lower(problem_->whole_lower(), 1.0); }
  [[nodiscard]] auto whole_upper() const requires(has_batches) { return counted_upper(problem_->whole_upper(), 1.0); }

  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }
  [[nodiscard]] bool offers_aggregation() const { return duplex::offers_aggregation(*problem_); }
  [[nodiscard]] double upper_scale() const { return duplex::upper_scale(*problem_); }
  [[nodiscard]] Box<Vector> box() const { return box_of(*problem_); }
  [[nodiscard]] Vector x_scale() const { return duplex::x_scale(*problem_); }
  [[nodiscard]] Vector y_scale() const { return duplex::y_scale(*problem_); }
  [[nodiscard]] Counters &counters() const { return *counters_; }

  // What is not counted is passed on, so that a problem may be limited wherever it is measured.
  [[nodiscard]] State<Vector> start() const requires StartedProblem<P> { return problem_->start(); }
  [[nodiscard]] std::optional<Answer<Vector>> answer() const requires AnsweredProblem<P> { return problem_->answer(); }
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const requires HeldOutProblem<P> {
    return problem_->held_out(x, y);
  }
  bool respond(const Vector &x, Vector &y, Vector &v) const requires ClosedFormLower<P> {
    return problem_->respond(x, y, v);
  }

  [[nodiscard]] auto fused_bagdc() const requires FusedProblem<P> {
    using Fused = CountedFused<FusedOf<P>, Vector>;
    auto inner = problem_->fused_bagdc();
    return inner ? std::optional<Fused>(std::in_place, std::move(*inner), *counters_) : std::nullopt;
  }

private:
  template <class E> [[nodiscard]] CountedEvaluation<E, Vector> counted_lower(E evaluation, double part) const {
    return {std::move(evaluation), "lower()", {counters_, &Counters::lower_passes, part}, limit_};
  }
  template <class E> [[nodiscard]] CountedEvaluation<E, Vector> counted_upper(E evaluation, double part) const {
    return {std::move(evaluation), "upper()", {counters_, &Counters::upper_passes, part}, limit_};
  }
  [[nodiscard]] double part_of_lower() const {
    if constexpr (has_batches) {
      return 1.0 / static_cast<double>(problem_->batches().lower_count);
    } else {
      return 1.0;
    }
  }
  [[nodiscard]] double part_of_upper() const {
    if constexpr (has_batches) {
      return 1.0 / static_cast<double>(problem_->batches().upper_count);
    } else {
      return 1.0;
    }
  }

  const P *problem_;
  Counters *counters_;
  WorkLimit *limit_;
};

} // namespace duplex
