#pragma once
// Directions by recursive estimates (SARAH; Nguyen, Liu, Scheinberg and Takáč, 2017): those of the whole now and then,
// and between, with D_i what the batch in hand says of a direction,
//
//   E_k = E_{k−1} + D_i(point k) − D_i(point k − 1),
//
// whose noise is of the size of the steps. No table is kept, but the point before.

#include <duplex/methods/joint/joint_step.hpp>
#include <duplex/problem/finite_sum.hpp>

#include <utility>

namespace duplex {

/// One direction that is estimated so.
template <VectorSpace V> class RecursiveEstimate {
public:
  explicit RecursiveEstimate(const V &like) : value_(zeros_like(like)) {}

  [[nodiscard]] const V &value() const { return value_; }
  void begin_anew(const V &of_whole) { assign(of_whole, value_); }
  void follow(const V &here, const V &before) {
    axpy(1.0, here, value_);
    axpy(-1.0, before, value_);
  }
  template <class Archive> void archive(Archive &members) { members("value", value_); }

private:
  V value_;
};

/// The joint step (joint_step.hpp) by such estimates.
template <BatchedProblem P> class RecursiveJointStep {
public:
  using V = VectorOf<P>;

  RecursiveJointStep(const P &problem, const State<V> &start)
      : problem_(problem), whole_(problem_.whole_lower(), problem_.whole_upper(), start), here_(problem, start),
        before_(problem, start), previous_(start), gradient_(start.y), residual_(start.y), direction_(start.x),
        d_here_(zeros_like(start.x)), d_before_(d_here_) {}

  /// Steps in which the batches of both levels are seen once.
  [[nodiscard]] double steps_of_pass() const {
    const Batches batches = problem_.batches();
    return static_cast<double>(batches.lower_count) + static_cast<double>(batches.upper_count);
  }

  void begin_anew(const State<V> &s) {
    whole_.measure(s, d_here_);
    gradient_.begin_anew(whole_.gradient());
    residual_.begin_anew(whole_.residual());
    direction_.begin_anew(d_here_);
    assign(s, previous_);
  }
  void follow(const State<V> &s) {
    here_.measure(s, d_here_);
    before_.measure(previous_, d_before_);
    gradient_.follow(here_.gradient(), before_.gradient());
    residual_.follow(here_.residual(), before_.residual());
    direction_.follow(d_here_, d_before_);
    assign(s, previous_);
  }
  void move(const StepSizes &steps, State<V> &s) const {
    axpy(-steps.beta, gradient_.value(), s.y);
    axpy(-steps.eta, residual_.value(), s.v);
  }

  [[nodiscard]] const V &direction() const { return direction_.value(); }
  template <class Archive> void archive(Archive &members) {
    members("previous", previous_);
    members("gradient", gradient_);
    members("residual", residual_);
    members("direction", direction_);
  }

private:
  using WholeLower = decltype(std::declval<const BatchView<P> &>().whole_lower());
  using WholeUpper = decltype(std::declval<const BatchView<P> &>().whole_upper());

  BatchView<P> problem_;
  JointStep<P, WholeLower, WholeUpper> whole_;
  JointStep<P> here_;
  JointStep<P> before_;
  State<V> previous_;
  RecursiveEstimate<V> gradient_;
  RecursiveEstimate<V> residual_;
  RecursiveEstimate<V> direction_;
  V d_here_;
  V d_before_;
};

/// How often a method takes directions of the whole, for its own fields().
template <class Self, class Visit> void visit_period_field(Self &self, Visit &&visit) {
  visit("period", self.period, finite_positive, "passes over the batches between two directions of the whole");
}

} // namespace duplex
