#pragma once
// ψ_μ(x, y) = μλ F(x, y) + (1 − μ) f(x, y) in the lower level's place, so that
// a lower level with many minimizers has one.

#include <duplex/problem/offered.hpp>
#include <duplex/problem/problem.hpp>

#include <utility>

namespace duplex {

/// The evaluation of ψ = a F + b f. With a = 0 it costs what f costs, and the
/// upper level's second derivatives are not needed.
template <SecondOrderProblem P> class AggregatedLower {
public:
  using V = VectorOf<P>;

  explicit AggregatedLower(const P &problem) : lower_(problem.lower()), upper_(problem.upper()) {}

  void weigh(double mu, double lambda) {
    upper_weight_ = mu * lambda;
    lower_weight_ = 1.0 - mu;
  }

  void at(const V &x, const V &y) {
    lower_.at(x, y);
    if (upper_weight_ != 0.0) {
      upper_.at(x, y);
      if (size(cross_scratch_) != size(x) || size(scratch_) != size(y)) { // results go into vectors of the right size
        cross_scratch_ = zeros_like(x);
        scratch_ = zeros_like(y);
      }
    }
  }

  [[nodiscard]] double value() {
    double value = lower_weight_ * lower_.value();
    if (upper_weight_ != 0.0) {
      value += upper_weight_ * upper_.value();
    }
    return value;
  }

  void grad_y(V &out) {
    lower_.grad_y(out);
    if (upper_weight_ != 0.0) {
      upper_.grad_y(scratch_);
      blend(scratch_, out);
    }
  }

  void hess_yy(const V &v, V &out) {
    lower_.hess_yy(v, out);
    if constexpr (AggregatedProblem<P>) {
      if (upper_weight_ != 0.0) {
        upper_.hess_yy(v, scratch_);
        blend(scratch_, out);
      }
    }
  }

  void cross_xy(const V &v, V &out) {
    lower_.cross_xy(v, out);
    if constexpr (AggregatedProblem<P>) {
      if (upper_weight_ != 0.0) {
        upper_.cross_xy(v, cross_scratch_);
        blend(cross_scratch_, out);
      }
    }
  }

  /// Of f, where that is all of ψ.
  [[nodiscard]] OfferedInverse offered_inverse() const {
    return upper_weight_ == 0.0 ? duplex::offered_inverse<V>(lower_) : OfferedInverse::none;
  }
  void apply_offered_inverse(const V &v, V &out) { duplex::apply_offered_inverse(lower_, v, out); }

private:
  void blend(const V &of_upper, V &out) {
    scale(lower_weight_, out);
    axpy(upper_weight_, of_upper, out);
  }

  LowerOf<P> lower_;
  UpperOf<P> upper_;
  V scratch_;       // like y
  V cross_scratch_; // like x
  double upper_weight_ = 0.0;
  double lower_weight_ = 1.0;
};

/// The problem whose lower level is ψ at a fixed μ: diagnostics of an aggregated
/// run are those of this problem.
template <AggregatedProblem P> class Aggregated {
public:
  using Vector = VectorOf<P>;

  /// Throws NotAvailable where the problem's object does not offer the upper level's products.
  Aggregated(const P &problem, double mu, double lambda) : problem_(&problem), mu_(mu), lambda_(lambda) {
    if (!offers_aggregation(problem)) {
      throw NotAvailable("aggregation: the problem lacks upper().hess_yy(v, out) and upper().cross_xy(v, out)");
    }
  }

  [[nodiscard]] AggregatedLower<P> lower() const {
    AggregatedLower<P> lower(*problem_);
    lower.weigh(mu_, lambda_);
    return lower;
  }
  [[nodiscard]] UpperOf<P> upper() const { return problem_->upper(); }
  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }
  [[nodiscard]] Box<Vector> box() const { return box_of(*problem_); }
  [[nodiscard]] Vector x_scale() const { return duplex::x_scale(*problem_); }
  [[nodiscard]] Vector y_scale() const { return duplex::y_scale(*problem_); }

private:
  const P *problem_;
  double mu_;
  double lambda_;
};

} // namespace duplex
