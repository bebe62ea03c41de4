#pragma once
// How often a run evaluated what. Counting wraps the problem, so that neither problems
// nor solvers count.

#include <duplex/core/clock.hpp>
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

  [[nodiscard]] std::int64_t products() const { return hessian_products + cross_products; }
  /// By which runs are compared.
  [[nodiscard]] std::int64_t gradients_and_products() const { return gradients + products(); }
  template <class Archive> void archive(Archive &members) {
    members("values", values);
    members("gradients", gradients);
    members("hessian products", hessian_products);
    members("cross products", cross_products);
  }
  bool operator==(const Counters &) const = default;
  Counters &operator+=(const Counters &more) {
    values += more.values;
    gradients += more.gradients;
    hessian_products += more.hessian_products;
    cross_products += more.cross_products;
    return *this;
  }
  [[nodiscard]] Counters operator-(const Counters &less) const {
    return {values - less.values, gradients - less.gradients, hessian_products - less.hessian_products,
            cross_products - less.cross_products};
  }
};

/// An evaluation that counts. It offers exactly what the inner one offers.
template <class E, class V> class CountedEvaluation {
public:
  CountedEvaluation(E inner, const char *level, Counters &counters, WorkLimit *limit)
      : inner_(std::move(inner)), sizes_(level), counters_(&counters), limit_(limit) {}

  void at(const V &x, const V &y) {
    sizes_.at(x, y);
    inner_.at(x, y);
  }

  [[nodiscard]] double value() {
    ++counters_->values;
    return inner_.value();
  }

  [[nodiscard]] bool offers_grad_x() const requires requires(const E &e) { e.offers_grad_x(); }
  { return inner_.offers_grad_x(); }
  void grad_x(V &out) requires OffersGradX<E, V> {
    ++counters_->gradients;
    sizes_.like_x(out, "grad_x", [&] { inner_.grad_x(out); });
  }

  void grad_y(V &out) {
    if (limit_ != nullptr) {
      limit_->check();
    }
    ++counters_->gradients;
    sizes_.like_y(out, "grad_y", [&] { inner_.grad_y(out); });
  }

  void hess_yy(const V &v, V &out) requires OffersSecondOrder<E, V> {
    if (limit_ != nullptr) {
      limit_->check();
    }
    ++counters_->hessian_products;
    sizes_.like_y(out, "hess_yy", [&] { inner_.hess_yy(v, out); });
  }

  void cross_xy(const V &v, V &out) requires OffersSecondOrder<E, V> {
    ++counters_->cross_products;
    sizes_.like_x(out, "cross_xy", [&] { inner_.cross_xy(v, out); });
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
  E inner_;
  OutputSizes<V> sizes_;
  Counters *counters_;
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

  [[nodiscard]] Lower lower() const { return {problem_->lower(), "lower()", *counters_, limit_}; }
  [[nodiscard]] Upper upper() const { return {problem_->upper(), "upper()", *counters_, limit_}; }
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
  const P *problem_;
  Counters *counters_;
  WorkLimit *limit_;
};

} // namespace duplex
