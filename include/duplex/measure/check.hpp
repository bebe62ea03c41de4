#pragma once
// check(problem): every derivative, and the hypergradient, against finite
// differences at random points. Wrong derivatives are the commonest reason why a
// bilevel run goes wrong in silence.

#include <duplex/core/text.hpp>
#include <duplex/measure/exact.hpp>
#include <duplex/problem/incomplete.hpp>
#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace duplex {

struct CheckOptions {
  std::uint64_t seed = 0;
  int points = 3;         ///< random points around the start
  double spread = 1.0;    ///< standard deviation of those points around it
  double tolerance = 0.0; ///< largest relative error allowed; 0: 1e-6 in double, 2e-2 in float
};

struct CheckRow {
  std::string quantity;
  double error = 0.0; ///< worst relative error over the points
  bool passes = false;
  std::string note;
};

struct CheckReport {
  double tolerance = 0.0;
  std::vector<CheckRow> rows;

  [[nodiscard]] bool passes() const {
    return std::all_of(rows.begin(), rows.end(), [](const CheckRow &row) { return row.passes; });
  }

  /// A table for people.
  [[nodiscard]] std::string table() const;
};

namespace detail {

/// The length of a move from `base` at which truncation and rounding of a central difference are alike.
template <VectorSpace V> [[nodiscard]] double difference_step(const V &base) {
  return std::cbrt(precision(base)) * std::max(1.0, norm(base));
}

/// The central difference of `function` at `base` along `direction`, over moves of length `step`.
template <VectorSpace V, class Function>
[[nodiscard]] double central_difference(const V &base, const V &direction, double step, const Function &function) {
  const double h = step / std::max(norm(direction), 1e-300);
  V moved = base;
  axpy(h, direction, moved);
  const double forward = function(moved);
  axpy(-2.0 * h, direction, moved);
  return (forward - function(moved)) / (2.0 * h);
}

/// The difference of `function` to one side, of second order in the step, over moves of length `step` and twice that.
template <VectorSpace V, class Function>
[[nodiscard]] double forward_difference(const V &base, double value, const V &direction, double step,
                                        const Function &function) {
  const double h = step / std::max(norm(direction), 1e-300);
  V moved = base;
  axpy(h, direction, moved);
  const double near = function(moved);
  axpy(h, direction, moved);
  return (4.0 * near - 3.0 * value - function(moved)) / (2.0 * h);
}

template <VectorSpace V, class Function>
[[nodiscard]] double central_difference(const V &base, const V &direction, const Function &function) {
  return central_difference(base, direction, difference_step(base), function);
}

template <VectorSpace V, class Generator> [[nodiscard]] V normal_like(Generator &generator, const V &like) {
  V out = zeros_like(like);
  fill_normal(generator, out);
  return out;
}

/// Errors of central differences: 1e-6 in double, 2e-2 in float.
[[nodiscard]] inline double usual_tolerance(double precision_of_numbers) {
  return precision_of_numbers < 1e-10 ? 1e-6 : 2e-2;
}

/// Compares directional derivatives with central differences along random
/// directions: (g(+h) − g(−h)) / 2h against the claimed inner product.
template <FirstOrderProblem P> class DerivativeCheck {
public:
  using V = VectorOf<P>;

  DerivativeCheck(const P &problem, const State<V> &center, const CheckOptions &options)
      : problem_(&problem), center_(center), options_(options), generator_(options.seed) {}

  [[nodiscard]] CheckReport run() {
    CheckReport report;
    report.tolerance = options_.tolerance > 0.0 ? options_.tolerance : usual_tolerance(precision(center_.x));
    rows_.clear();
    for (int point = 0; point < options_.points; ++point) {
      State<V> here{around(center_.x), around(center_.y), random_like(center_.y)};
      first_order(here);
      if constexpr (SecondOrderProblem<P>) {
        if (outputs_are_written()) {
          second_order("lower", problem_->lower(), here);
        }
      }
      if constexpr (AggregatedProblem<P>) {
        if (outputs_are_written() && offers_aggregation(*problem_)) {
          second_order("upper", problem_->upper(), here);
        }
      }
      if constexpr (SecondOrderProblem<P>) {
        if (outputs_are_written()) {
          hypergradient(here);
        }
      }
    }
    for (auto &row : rows_) {
      row.passes = row.error <= report.tolerance;
    }
    report.rows = std::move(rows_);
    return report;
  }

private:
  /// Otherwise nothing that is computed with them can be believed, or read.
  [[nodiscard]] bool outputs_are_written() const {
    return std::none_of(rows_.begin(), rows_.end(),
                        [](const CheckRow &row) { return row.error == infinity && !row.note.empty(); });
  }

  V random_like(const V &like) { return normal_like(generator_, like); }

  V around(const V &center) {
    V out = random_like(center);
    scale(options_.spread, out);
    axpy(1.0, center, out);
    return out;
  }

  CheckRow &row_of(const std::string &quantity) {
    const auto row =
        std::find_if(rows_.begin(), rows_.end(), [&](const CheckRow &r) { return r.quantity == quantity; });
    return row != rows_.end() ? *row : rows_.emplace_back(CheckRow{.quantity = quantity, .note = {}});
  }

  /// Errors are relative to the lengths that could make up the product, so that
  /// a product that vanishes does not turn rounding into a large error.
  void record(const std::string &quantity, double claimed, double measured, double scale_of_claim) {
    CheckRow &row = row_of(quantity);
    const double denominator = std::max({std::abs(claimed), std::abs(measured), 1e-3 * scale_of_claim, 1e-300});
    const double error = std::abs(claimed - measured) / denominator;
    row.error = std::isfinite(error) ? std::max(row.error, error) : infinity;
  }

  template <class Evaluate>
  void gradient(const std::string &quantity, const V &base, const V &claimed, const Evaluate &value_at) {
    const V direction = random_like(base);
    record(quantity, dot(claimed, direction), central_difference(base, direction, value_at),
           norm(claimed) * norm(direction));
  }

  /// Calls write(out) with an output of the right size; false, and a note in the quantity's row, where it was resized
  /// or left in parts as it was.
  template <class Write>
  [[nodiscard]] bool writes(const std::string &quantity, const V &like, V &out, const Write &write) {
    const auto fails = [&](std::string note) {
      CheckRow &row = row_of(quantity);
      row.error = infinity;
      row.note = std::move(note);
      return false;
    };
    out = zeros_like(like);
    scale(std::numeric_limits<double>::quiet_NaN(), out);
    write(out);
    if (size(out) != size(like)) {
      return fails("out was made " + std::to_string(size(out)) + " entries long, expected " +
                   std::to_string(size(like)));
    }
    if (!all_finite(out)) { // what was not written, or a derivative that is not finite
      out = zeros_like(like);
      write(out);
      if (all_finite(out)) {
        return fails("not every entry of out is written, or out is added to");
      }
    }
    return true;
  }

  void first_order(const State<V> &s) {
    auto lower = problem_->lower();
    auto upper = problem_->upper();
    V out = zeros_like(s.y);
    lower.at(s.x, s.y);
    if (writes("lower grad_y", s.y, out, [&](V &to) { lower.grad_y(to); })) {
      gradient("lower grad_y", s.y, out, [&](const V &y) { return value(lower, s.x, y); });
    }
    upper.at(s.x, s.y);
    if (writes("upper grad_y", s.y, out, [&](V &to) { upper.grad_y(to); })) {
      gradient("upper grad_y", s.y, out, [&](const V &y) { return value(upper, s.x, y); });
    }
    upper.at(s.x, s.y);
    if (writes("upper grad_x", s.x, out, [&](V &to) { upper.grad_x(to); })) {
      gradient("upper grad_x", s.x, out, [&](const V &x) { return value(upper, x, s.y); });
    }
  }

  template <class E> static double value(E &evaluation, const V &x, const V &y) {
    evaluation.at(x, y);
    return static_cast<double>(evaluation.value());
  }

  template <class E> void second_order(const std::string &level, E evaluation, const State<V> &s) {
    const V v = random_like(s.y);
    V gradient_at = zeros_like(s.y);
    const auto slope = [&](const V &x, const V &y, const V &along) {
      evaluation.at(x, y);
      evaluation.grad_y(gradient_at);
      return dot(gradient_at, along);
    };
    V hv = zeros_like(s.y);
    const V w = random_like(s.y);
    const V u = random_like(s.x);
    evaluation.at(s.x, s.y);
    const bool gives_hessian = writes(level + " hess_yy", s.y, hv, [&](V &to) { evaluation.hess_yy(v, to); });
    V hw = zeros_like(s.y);
    if (gives_hessian) {
      evaluation.hess_yy(w, hw);
      record(level + " hess_yy", dot(hv, w), central_difference(s.y, v, [&](const V &y) { return slope(s.x, y, w); }),
             norm(hv) * norm(w));
      record(level + " hess_yy symmetry", dot(hv, w), dot(hw, v), norm(hv) * norm(w));
    }
    V cv = zeros_like(s.x);
    evaluation.at(s.x, s.y);
    if (writes(level + " cross_xy", s.x, cv, [&](V &to) { evaluation.cross_xy(v, to); })) {
      record(level + " cross_xy", dot(cv, u), central_difference(s.x, u, [&](const V &x) { return slope(x, s.y, v); }),
             norm(cv) * norm(u));
    }
  }

  /// ∇φ by implicit differentiation against differences of φ(x) = F(x, y*(x)).
  void hypergradient(const State<V> &s) {
    const std::string quantity = "hypergradient";
    try {
      ExactSolver<P> exact(*problem_);
      const V claimed = exact.at(s.x, s.y).hypergradient;
      const V direction = random_like(s.x);
      record(quantity, dot(claimed, direction),
             central_difference(s.x, direction, [&](const V &x) { return exact.at(x, s.y).value; }),
             norm(claimed) * norm(direction));
    } catch (const NotAvailable &reason) {
      const bool singular = std::string_view(reason.what()).find("singular") != std::string_view::npos;
      auto &row = row_of(quantity);
      if (singular) {
        row.note = "undefined: singular H";
      } else {
        row.error = infinity;
        row.note.clear();
      }
    }
  }

  const P *problem_;
  State<V> center_;
  CheckOptions options_;
  std::mt19937_64 generator_;
  std::vector<CheckRow> rows_;
};

} // namespace detail

/// Verifies the derivatives of a problem around `center`.
template <FirstOrderProblem P>
[[nodiscard]] CheckReport check(const P &problem, State<VectorOf<P>> center, const CheckOptions &options = {}) {
  using Lower = LowerOf<P>;
  using V = VectorOf<P>;
  if constexpr (detail::HasHessYY<Lower, V> != detail::HasCrossXY<Lower, V>) { // the other one was forgotten
    detail::explain_second_order<Lower, V>();
  }
  if (options.points < 1 || !(options.spread >= 0.0) || !(options.tolerance >= 0.0)) {
    throw InvalidInput("check: points = " + field_text(options.points) + ", spread = " + field_text(options.spread) +
                       ", tolerance = " + field_text(options.tolerance) +
                       ", expected points >= 1, spread >= 0 and tolerance >= 0");
  }
  prepare_start(problem, center);
  return detail::DerivativeCheck<P>(problem, center, options).run();
}

/// Verifies the derivatives of a problem around its own start.
template <StartedProblem P> [[nodiscard]] CheckReport check(const P &problem, const CheckOptions &options = {}) {
  return check(problem, problem.start(), options);
}

/// What is not a problem: the first error of the compiler names the level and the member that is missing.
template <class P>
requires(!FirstOrderProblem<P>) CheckReport check(const P & /*problem*/, const CheckOptions & /*options*/ = {}) {
  detail::explain_incomplete_problem<P, false>();
  return {};
}
template <class P, VectorSpace V>
requires(!FirstOrderProblem<P>) CheckReport
    check(const P &problem, const State<V> & /*center*/, const CheckOptions &options = {}) {
  return check(problem, options);
}

} // namespace duplex
