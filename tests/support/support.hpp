#pragma once
// What several tests share: a small problem that is quadratic in nothing, ways to
// catch a refusal, and a recorder of every step.

#include "solves.hpp"

#include <duplex/catalog.hpp>
#include <duplex/duplex.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace duplex {

inline void PrintTo(Termination termination, std::ostream *out) { *out << '"' << name_of(termination) << '"'; }

} // namespace duplex

namespace duplex::testing {

/// BAGDC with steps of the caller's, which the paper's problem likes.
inline constexpr Bagdc with_given_steps{.alpha = 0.1, .beta = 0.2, .eta = 1.0};

/// A method of that kind with these steps, where it has steps.
template <class S> [[nodiscard]] S with_steps(double alpha = 0.1, double beta = 0.2) {
  S method;
  S::fields(method, [&](std::string_view, auto &value, const Bound &, std::string_view, Role role = Role::none) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, double>) {
      value = role == Role::upper_step ? alpha : role == Role::lower_step ? beta : value;
    }
  });
  return method;
}

using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Independent standard normal entries.
template <class V = Vec> [[nodiscard]] V random_vector(Index n, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  V out(n);
  fill_normal(generator, out);
  return out;
}

/// ‖a − b‖ / ‖b‖
[[nodiscard]] inline double relative_error(const Vec &a, const Vec &b) { return (a - b).norm() / b.norm(); }

template <class V> [[nodiscard]] bool same_bits(const V &a, const V &b) {
  return a.size() == b.size() && (a.array() == b.array()).all();
}

template <class V> [[nodiscard]] bool same_bits(const State<V> &a, const State<V> &b) {
  return same_bits(a.x, b.x) && same_bits(a.y, b.y) && same_bits(a.v, b.v);
}

/// The message with which `action` refuses its input; empty if it does not.
template <class Error = InvalidInput, class Action> [[nodiscard]] std::string refusal(Action &&action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error &error) {
    return error.what();
  }
  return {};
}

#define EXPECT_CONTAINS(text, part) EXPECT_PRED_FORMAT2(::testing::IsSubstring, std::string(part), std::string(text))

/// Runs a solver for so many steps.
template <class P, class S>
Summary run_steps(const P &problem, const S &solver, State<VectorOf<P>> &state, std::int64_t steps) {
  return solve(problem, solver, state, {.max_iterations = steps});
}

/// Keeps the state, the direction and the point where it was computed, of every step.
template <class V> class Recorder final : public Observer<V> {
public:
  struct Step {
    V previous_x;
    V direction;
    State<V> state;
    StepSizes steps;
    Counters counters;
  };

  void observe(const Progress<V> &progress) override {
    steps.push_back({progress.previous_x, progress.direction, progress.state, progress.steps, progress.counters});
  }

  std::vector<Step> steps;
};

template <class P, class S>
std::vector<typename Recorder<VectorOf<P>>::Step> record(const P &problem, const S &solver, State<VectorOf<P>> state,
                                                         std::int64_t steps) {
  Recorder<VectorOf<P>> recorder;
  Monitor<VectorOf<P>> monitor;
  monitor.observers = {&recorder};
  (void)solve(problem, solver, state, {.max_iterations = steps}, monitor);
  return std::move(recorder.steps);
}

/// With u = Wx, entry by entry, and s = Σ y_i:
///
///   f = Σ ½(1 + u²)y² − sin(u)y + ¼exp(y − u/2)  + (c/2)s²,
///   F = ½‖x − ½‖² + ½‖y − 1‖² + ¼Σ u²y².
///
/// Strongly convex in y on both levels, with mixed derivatives that depend on both
/// x and y. Without `Aggregates` its upper level has no second derivatives.
template <bool Aggregates = true> class Bent {
public:
  using Vector = Vec;

  Bent(Mat w, double coupling) : w_(std::move(w)), coupling_(coupling) {}

  class Lower : public Point<Vec> {
  public:
    explicit Lower(const Bent &problem) : problem_(&problem) {}
    void at(const Vec &x, const Vec &y) {
      Point<Vec>::at(x, y);
      u_ = (problem_->w_ * x).array();
      e_ = 0.25 * (y.array() - 0.5 * u_).exp();
    }
    [[nodiscard]] double value() const {
      const auto y = this->y().array();
      return (0.5 * (1.0 + u_.square()) * y.square() - u_.sin() * y + e_).sum() +
             0.5 * problem_->coupling_ * std::pow(y.sum(), 2);
    }
    void grad_x(Vec &out) const {
      const auto y = this->y().array();
      out = problem_->w_.transpose() * (u_ * y.square() - u_.cos() * y - 0.5 * e_).matrix();
    }
    void grad_y(Vec &out) const {
      const auto y = this->y().array();
      out = (1.0 + u_.square()) * y - u_.sin() + e_ + problem_->coupling_ * y.sum();
    }
    void hess_yy(const Vec &v, Vec &out) const {
      out = (1.0 + u_.square() + e_) * v.array() + problem_->coupling_ * v.sum();
    }
    void cross_xy(const Vec &v, Vec &out) const {
      out = problem_->w_.transpose() * ((2.0 * u_ * this->y().array() - u_.cos() - 0.5 * e_) * v.array()).matrix();
    }

  private:
    const Bent *problem_;
    Eigen::ArrayXd u_;
    Eigen::ArrayXd e_;
  };

  class Upper : public Point<Vec> {
  public:
    explicit Upper(const Bent &problem) : problem_(&problem) {}
    void at(const Vec &x, const Vec &y) {
      Point<Vec>::at(x, y);
      u_ = (problem_->w_ * x).array();
    }
    [[nodiscard]] double value() const {
      const auto y = this->y().array();
      return 0.5 * (this->x().array() - 0.5).square().sum() + 0.5 * (y - 1.0).square().sum() +
             0.25 * (u_ * y).square().sum();
    }
    void grad_x(Vec &out) const {
      out = this->x().array() - 0.5;
      out += problem_->w_.transpose() * (0.5 * u_ * this->y().array().square()).matrix();
    }
    void grad_y(Vec &out) const { out = (1.0 + 0.5 * u_.square()) * this->y().array() - 1.0; }
    void hess_yy(const Vec &v, Vec &out) const requires Aggregates { out = (1.0 + 0.5 * u_.square()) * v.array(); }
    void cross_xy(const Vec &v, Vec &out) const requires Aggregates {
      out = problem_->w_.transpose() * (u_ * this->y().array() * v.array()).matrix();
    }

  private:
    const Bent *problem_;
    Eigen::ArrayXd u_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return w_.cols(); }
  [[nodiscard]] Index y_size() const { return w_.rows(); }
  [[nodiscard]] State<Vec> start() const {
    return {Vec::LinSpaced(x_size(), 0.9, 0.3), Vec::LinSpaced(y_size(), -0.4, 0.7), Vec::Zero(y_size())};
  }

private:
  Mat w_;
  double coupling_;
};

static_assert(AggregatedProblem<Bent<true>> && StartedProblem<Bent<true>>);
static_assert(SecondOrderProblem<Bent<false>> && !AggregatedProblem<Bent<false>>);

/// x has two entries, y has three.
template <bool Aggregates = true> [[nodiscard]] Bent<Aggregates> bent() {
  Mat w(3, 2);
  w << 0.7, -0.3, 0.2, 0.5, -0.4, 0.6;
  return {std::move(w), 0.3};
}

/// x and y have one entry and u = x.
template <bool Aggregates = true> [[nodiscard]] Bent<Aggregates> bent_scalar() { return {Mat::Ones(1, 1), 0.0}; }

/// ∂g/∂x_i by the five-point rule, whose error is of fourth order.
template <class Function> [[nodiscard]] Vec difference_gradient(const Vec &x, const Function &function) {
  constexpr double h = 1e-3;
  Vec gradient(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const auto at = [&](double shift) {
      Vec moved = x;
      moved[i] += shift;
      return function(moved);
    };
    gradient[i] = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
  }
  return gradient;
}

} // namespace duplex::testing
