#pragma once
// The inner loop of the nested methods: T steps of gradient descent on a lower
// level, and the reverse sweep through them. Gradient descent
// y_{t+1} = y_t − β∇yψ_t(x, y_t) has the adjoint
//
//   p_t = p_{t+1} − β ∇²yyψ_t(x, y_t) p_{t+1},   d ← d − β ∇²xyψ_t(x, y_t) p_{t+1},
//
// a recursion on products at the stored iterates: no tape, and T vectors of memory.

#include <duplex/core/memory.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/step/upper_rule.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace duplex {

/// Where the inner loop of a nested method begins.
enum class InnerStart : std::uint8_t {
  warm, ///< where the last one ended
  cold, ///< at the run's y₀
};

constexpr std::array<std::string_view, 2> inner_start_names{"warm", "cold"};
constexpr const auto &names_of(InnerStart /*unused*/) { return inner_start_names; }

/// The options that every nested method has, for its own fields().
template <class Self, class Visit> void visit_nested_fields(Self &self, Visit &&visit) {
  visit_step_fields(self, visit);
  visit("inner", self.inner, at_least_one, "lower steps T per upper step");
  visit("inner-start", self.inner_start, any_number, "where the inner loop begins");
}

/// Gradient descent on a lower level that keeps the last `kept` of its iterates.
template <VectorSpace V> class InnerLoop {
public:
  InnerLoop(const V &y, std::int64_t steps, std::int64_t kept, InnerStart start)
      : steps_(steps), start_(start), path_(kept_iterates(kept, y)), before_(y), gradient_(y) {
    if (start == InnerStart::cold) {
      first_ = y;
    }
  }

  /// Moves y; blend(lower, t) sets what step t descends on.
  template <class Lower, class Blend> void descend(Lower &lower, const Blend &blend, double beta, const V &x, V &y) {
    if (start_ == InnerStart::cold) {
      assign(first_, y);
    }
    for (std::int64_t t = 0; t < steps_; ++t) {
      V &before = t >= first_kept() ? path_[static_cast<std::size_t>(t - first_kept())] : before_;
      assign(y, before); // the evaluation borrows its point, so y moves and the point stays
      blend(lower, t);
      lower.at(x, before);
      lower.grad_y(gradient_);
      axpy(-beta, gradient_, y);
    }
  }

  [[nodiscard]] std::int64_t first_kept() const { return steps_ - static_cast<std::int64_t>(path_.size()); }
  [[nodiscard]] const std::vector<V> &path() const { return path_; }

  template <class Archive> void archive(Archive &members) { members("first", first_); }

  /// The last finite iterate at which ∇yψ was taken, among those that are kept: null where there is none.
  [[nodiscard]] const V *last_finite_point() const {
    for (auto iterate = path_.rbegin(); iterate != path_.rend(); ++iterate) {
      if (all_finite(*iterate)) {
        return &*iterate;
      }
    }
    return path_.empty() && all_finite(before_) ? &before_ : nullptr;
  }

private:
  [[nodiscard]] static std::vector<V> kept_iterates(std::int64_t kept, const V &y) {
    require_memory(precision(y) < 1e-10 ? 8.0 * static_cast<double>(kept) * static_cast<double>(size(y))
                                        : 4.0 * static_cast<double>(kept) * static_cast<double>(size(y)),
                   "inner = " + std::to_string(kept) + " keeps as many copies of y");
    return std::vector<V>(static_cast<std::size_t>(kept), y);
  }

  std::int64_t steps_;
  InnerStart start_;
  std::vector<V> path_;
  V before_;
  V gradient_;
  V first_;
};

/// The gradient of F(x, y_T(x)) by the reverse sweep through the kept steps.
template <VectorSpace V> class UnrolledHypergradient {
public:
  UnrolledHypergradient(const State<V> &start, std::int64_t steps, std::int64_t kept, InnerStart inner_start)
      : inner_(start.y, steps, kept, inner_start), adjoint_(zeros_like(start.y)), product_(zeros_like(start.y)),
        direction_(zeros_like(start.x)), cross_(zeros_like(start.x)) {}

  /// Moves y by descent and v to the multiplier that the sweep amounts to, β Σ p_t.
  template <class Lower, class Upper, class Blend>
  void step(Lower &lower, Upper &upper, const Blend &blend, double beta, State<V> &s) {
    inner_.descend(lower, blend, beta, s.x, s.y);
    upper.at(s.x, s.y);
    upper.grad_x(direction_);
    upper.grad_y(adjoint_);
    set_zero(s.v);
    for (std::size_t i = inner_.path().size(); i-- > 0;) {
      blend(lower, inner_.first_kept() + static_cast<std::int64_t>(i));
      lower.at(s.x, inner_.path()[i]);
      axpy(beta, adjoint_, s.v);
      lower.cross_xy(adjoint_, cross_);
      axpy(-beta, cross_, direction_);
      if (i > 0) { // p_0 is not needed
        lower.hess_yy(adjoint_, product_);
        axpy(-beta, product_, adjoint_);
      }
    }
  }

  [[nodiscard]] const V &direction() const { return direction_; }
  [[nodiscard]] const V *lower_point() const { return inner_.last_finite_point(); }
  template <class Archive> void archive(Archive &members) { members("inner", inner_); }

private:
  InnerLoop<V> inner_;
  V adjoint_;
  V product_;
  V direction_;
  V cross_;
};

/// A method whose inner steps all descend on the lower level itself.
inline constexpr auto lower_level_only = [](auto & /*lower*/, std::int64_t /*t*/) {};

} // namespace duplex
