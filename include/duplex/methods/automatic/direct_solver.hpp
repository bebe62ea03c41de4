#pragma once
// H e = r where y is small enough for H to be assembled: conjugate gradients preconditioned by M, the inverse of H as
// it was at some point of late. Where H has not changed since that is one step, and where it has, a few. The error is
// ‖Mr‖, times pᵀM⁻¹p/pᵀHp where H turns out to be flatter than it was: without one step nothing is known of that. Zero
// is judged beside pᵀM⁻¹p, so that the units of y's entries do not matter.
//
// H is assembled anew where the steps that this would have saved have cost as many products as it costs. Where M is
// seen to be exact, again and again, it is believed to be, and looked at once in a while: a solve costs no product
// then.

#include <duplex/methods/automatic/inner_tolerance.hpp>
#include <duplex/methods/automatic/never_direct.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/numerics/assembled_hessian.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace duplex::automatic {

template <EigenVector V> class DirectSolver<V> {
public:
  DirectSolver(const V &x, const V &y)
      : preconditioned_(zeros_like(y)), start_(zeros_like(y)), moved_(zeros_like(y)), assembled_x_(zeros_like(x)),
        assembled_y_(zeros_like(y)), stepped_x_(zeros_like(x)) {}

  [[nodiscard]] bool is_possible() const { return start_.size() <= AssembledHessian<V>::largest; }
  /// Whether H is assembled.
  [[nodiscard]] bool is_ready() const { return hessian_.is_there(); }
  [[nodiscard]] std::int64_t assemblies() const { return assemblies_; }
  /// Below this ∇y f at y is noise: each entry in its own units.
  [[nodiscard]] double rounding_of_gradient(const V &y) const {
    return 100.0 * precision(y) * norm(V(hessian_.sizes().cwiseProduct(y)));
  }
  void forget() {
    hessian_.forget();
    exact_in_a_row_ = 0;
    is_wanted_ = false;
  }
  /// H is assembled before the next solve, whatever conjugate gradients would cost.
  void want() { is_wanted_ = is_possible(); }
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  /// Whether the next solve will cost no product, since M is believed to be exact.
  [[nodiscard]] bool is_believed() const {
    return is_ready() && !changes_ && exact_in_a_row_ >= rule::exact_solves_to_believe &&
           unchecked_ + 1 < rule::solves_between_checks;
  }
  /// H is seen to differ from solve to solve.
  void note_that_h_changes() { changes_ = true; }

  /// Assembles H at (x, y), where the products are taken, and says what it is.
  template <class Product> LinearStatus assemble(const Product &product, const V &x, const V &y) {
    hessian_.assemble(product, y);
    ++assemblies_;
    is_wanted_ = false;
    stretch_ = 1.0;
    assign(x, stepped_x_);
    excess_ = 0;
    exact_in_a_row_ = 0;
    assign(x, assembled_x_);
    assign(y, assembled_y_);
    return hessian_.kind();
  }

  /// Moves `solution` and leaves the final residual in `residual`. Where H is found to be indefinite at (x, y) the
  /// solution has moved by the inverse with the moduli of its eigenvalues, which lowers f.
  template <class Product>
  InnerReport solve(const Product &product, const V &x, const V &y, V &residual, V &solution,
                    const InnerTolerance &tolerance) {
    InnerReport report;
    const double first_length = norm(residual);
    assign(solution, start_);
    if (is_believed()) {
      return apply(residual, solution, first_length);
    }
    unchecked_ = 0;
    if (stepped_x_ != x) {
      stretch_ = 1.0;
    }
    bool is_exact = is_wanted_; // M is the inverse of this very H
    if (is_wanted_) {
      report.status = renew(product, x, y, residual, solution, report.steps);
    } else {
      begin(residual);
    }
    const double first_error = error_;
    while (report.status == LinearStatus::converged &&
           (!fits(solution, tolerance) || (is_doubtful(x) && !is_exact && report.steps == 0))) {
      const double before = error_;
      const bool renews = !is_exact && excess_ >= static_cast<std::int64_t>(size(y));
      report.status = renews ? LinearStatus::singular : step(product, residual, solution);
      if (report.status == LinearStatus::converged) {
        assign(x, stepped_x_);
        excess_ += ++report.steps > usual_steps ? 1 : 0;
        is_exact = is_exact || error_ <= fall_of_exact * before;
        if (is_exact && !(error_ <= 0.5 * before)) { // what is left is rounding
          break;
        }
        continue;
      }
      if (is_exact) {
        break;
      }
      report.status = renew(product, x, y, residual, solution, report.steps);
      is_exact = true;
    }
    learn_of_exactness(report, first_error);
    report.error = error_;
    report.step_size = first_length > 0.0 ? moved(solution) / first_length : 0.0;
    return report;
  }

  /// The error of a solution that leaves this residual.
  [[nodiscard]] double error_of(const V &residual) {
    hessian_.invert(residual, preconditioned_);
    return stretch_ * norm(preconditioned_);
  }

  /// H itself is not written: it is assembled again from where it was assembled, by restore().
  template <class Archive> void archive(Archive &members) {
    was_ready_ = is_ready();
    members("ready", was_ready_);
    members("assembled x", assembled_x_);
    members("assembled y", assembled_y_);
    members("assemblies", assemblies_);
    members("excess", excess_);
    members("exact in a row", exact_in_a_row_);
    members("unchecked", unchecked_);
    members("left", left_);
    members("stretch", stretch_);
    members("stepped x", stepped_x_);
    members("changes", changes_);
    members("wanted", is_wanted_);
  }
  /// After archive() has read: H as it was. `lower` is moved to where that was.
  template <class Lower> void restore(Lower &lower) {
    if (was_ready_) {
      lower.at(assembled_x_, assembled_y_);
      hessian_.assemble([&](const V &in, V &out) { lower.hess_yy(in, out); }, assembled_y_);
    } else {
      hessian_.forget();
    }
  }

private:
  static constexpr std::int64_t usual_steps = 2; ///< of a solve, that a new M would not save
  static constexpr double fall_of_exact = 1e-6;  ///< of the error in one step, by which M is seen to be exact

  void begin(const V &residual) {
    step_.restart(residual);
    error_ = error_of(residual);
  }

  /// solution += Mr, with the error that solves which were looked at have left.
  InnerReport apply(V &residual, V &solution, double first_length) {
    ++unchecked_;
    error_ = left_ * error_of(residual);
    axpy(1.0, preconditioned_, solution);
    set_zero(residual);
    return {.error = error_, .step_size = first_length > 0.0 ? moved(solution) / first_length : 0.0};
  }

  void learn_of_exactness(const InnerReport &report, double first_error) {
    const double left = first_error > 0.0 ? error_ / first_error : 0.0;
    if (report.steps == 0) {
      return;
    }
    const bool exact = report.status == LinearStatus::converged && report.steps <= usual_steps && left <= fall_of_exact;
    exact_in_a_row_ = exact ? exact_in_a_row_ + 1 : 0;
    changes_ = changes_ || !exact; // and is not believed in again
    left_ = exact ? left : 0.0;
  }

  /// One step of preconditioned conjugate gradients.
  template <class Product> [[nodiscard]] LinearStatus step(const Product &product, V &residual, V &solution) {
    const LinearStatus status =
        step_.move_by_inverse(product, preconditioned_, dot(residual, preconditioned_), residual, solution);
    if (status == LinearStatus::converged) {
      stretch_ = std::max(stretch_, step_.stretch());
      error_ = error_of(residual);
    }
    return status;
  }

  /// Assembles H at (x, y). Where it is indefinite the solution moves by its moduli.
  template <class Product>
  [[nodiscard]] LinearStatus renew(const Product &product, const V &x, const V &y, const V &residual, V &solution,
                                   std::int64_t &steps) {
    const LinearStatus kind = assemble(product, x, y);
    if (kind == LinearStatus::not_finite) {
      hessian_.forget();
      return kind;
    }
    begin(residual);
    if (kind == LinearStatus::indefinite) {
      axpy(1.0, preconditioned_, solution);
      ++steps;
    }
    return kind;
  }

  /// Whether H may be flatter than it was, and no step has shown by how much at this x.
  [[nodiscard]] bool is_doubtful(const V &x) const { return changes_ && error_ > 0.0 && stepped_x_ != x; }

  [[nodiscard]] double moved(const V &solution) { return distance(solution, start_, moved_); }

  [[nodiscard]] bool fits(const V &solution, const InnerTolerance &tolerance) {
    if (error_ <= tolerance.absolute || error_ == 0.0) {
      return true;
    }
    const double way = moved(solution);
    return error_ <= tolerance.relative * way || error_ <= 4.0 * precision(solution) * (tolerance.magnitude + way);
  }

  AssembledHessian<V> hessian_;
  V preconditioned_; ///< Mr
  ConjugateStep<V> step_;
  V start_;
  V moved_;
  V assembled_x_; ///< where H was assembled
  V assembled_y_;
  V stepped_x_;          ///< where the last step was taken, or H assembled
  double stretch_ = 1.0; ///< how much flatter H is than M says
  double error_ = 0.0;
  std::int64_t assemblies_ = 0;
  std::int64_t excess_ = 0; ///< steps since H was assembled that a new M would have saved
  bool was_ready_ = false;
  bool changes_ = false;
  bool is_wanted_ = false; ///< before the next solve
  int exact_in_a_row_ = 0; ///< solves in which M was seen to be exact
  int unchecked_ = 0;      ///< solves since one was looked at
  double left_ = 0.0;      ///< of the error, by a step with an exact M
};

} // namespace duplex::automatic
