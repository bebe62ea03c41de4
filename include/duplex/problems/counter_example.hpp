#pragma once
// The paper's counter-example, on which naive accelerations converge to the wrong
// point:
//
//   F = ½‖x − z₀‖² + ½yᵀAy,   f = ½yᵀAy − xᵀy,   A symmetric positive definite.
//
// Answer: x* = A(A + I)⁻¹z₀, y* = v* = (A + I)⁻¹z₀, F* = ½z₀ᵀ(A + I)⁻¹z₀.

#include <duplex/core/fields.hpp>
#include <duplex/kernels/diagonal_step.hpp>
#include <duplex/measure/curvature.hpp>
#include <duplex/measure/exact.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>
#include <duplex/numerics/matrices.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problem/fused.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace duplex {

template <class Scalar, class Matrix> class CounterExample {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  static_assert(SymmetricOperator<Matrix, Vector>);

  /// Starts at x₀ = y₀ = `start`·e, v₀ = 0.
  CounterExample(Matrix a, Vector z0, double start = 2.0) : a_(std::move(a)), z0_(std::move(z0)), start_(start) {
    if (z0_.size() != a_.size()) {
      throw InvalidInput("counter-example: z0 has " + std::to_string(z0_.size()) + " entries, A has " +
                         std::to_string(a_.size()) + " rows");
    }
    if (!z0_.allFinite() || z0_.isZero(0)) {
      throw InvalidInput("counter-example: z0 must be finite and not zero");
    }
    if (!std::isfinite(start)) {
      throw InvalidInput("counter-example: start = " + field_text(start) + ", expected a finite number");
    }
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const CounterExample &problem) : problem_(&problem) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      ay_.forget();
    }
    [[nodiscard]] double value() { return 0.5 * dot(this->y(), ay()) - dot(this->x(), this->y()); }
    void grad_x(Vector &out) { out = -this->y(); }
    void grad_y(Vector &out) { out = ay() - this->x(); }
    void hess_yy(const Vector &v, Vector &out) { problem_->a_.apply(v, out); }
    void cross_xy(const Vector &v, Vector &out) { out = -v; }

  private:
    const Vector &ay() {
      return ay_.get([&](Vector &out) { problem_->a_.apply(this->y(), out); });
    }
    const CounterExample *problem_;
    Kept<Vector> ay_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const CounterExample &problem) : problem_(&problem) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      ay_.forget();
    }
    [[nodiscard]] double value() {
      return 0.5 * static_cast<double>((this->x() - problem_->z0_).squaredNorm()) + 0.5 * dot(this->y(), ay());
    }
    void grad_x(Vector &out) { out = this->x() - problem_->z0_; }
    void grad_y(Vector &out) { out = ay(); }
    void hess_yy(const Vector &v, Vector &out) { problem_->a_.apply(v, out); }
    void cross_xy(const Vector & /*v*/, Vector &out) { out.setZero(problem_->a_.size()); }

  private:
    const Vector &ay() {
      return ay_.get([&](Vector &out) { problem_->a_.apply(this->y(), out); });
    }
    const CounterExample *problem_;
    Kept<Vector> ay_;
  };

  /// One step that reads a dense A once: A[y⁺, v] together, and Ay⁺ serves ∇yF now
  /// and ∇y f in the next step. With a line search, twice.
  class FusedDense {
  public:
    explicit FusedDense(const CounterExample &problem)
        : problem_(&problem), ay_(problem.x_size()), image_(problem.x_size()), residual_(problem.x_size()) {}

    [[nodiscard]] static bool supports(DualStep rule, bool mixes) { return rule != DualStep::polak_ribiere && !mixes; }

    void begin(const State<Vector> &start) { problem_->a_.apply(start.y, ay_); }

    double step(State<Vector> &s, const StepSizes &steps, const FusedRules<Vector> &rules, UpperUpdate<Vector> &move,
                Vector &d) {
      s.y -= static_cast<Scalar>(steps.beta) * (ay_ - s.x);
      problem_->a_.apply_pair(s.y, s.v, ay_, image_);
      residual_ = ay_ - image_;
      double eta = steps.eta;
      if (rules.dual != DualStep::constant) {
        problem_->a_.apply(residual_, image_);
        const double rr = dot(residual_, residual_);
        eta = rules.relaxation * rules.search->step(rr, dot(residual_, image_), rr);
      }
      s.v += static_cast<Scalar>(eta) * residual_;
      d = s.x - problem_->z0_ + s.v;
      move.apply(steps.alpha, d, s.x);
      return eta;
    }
    template <class Archive> void archive(Archive &members) { members("Ay", ay_); }

  private:
    const CounterExample *problem_;
    Vector ay_;
    Vector image_;
    Vector residual_;
  };

  /// One step that passes over the vectors once where A is diagonal, in pieces that stay
  /// in the first cache. With a line search, twice.
  class FusedDiagonal {
  public:
    explicit FusedDiagonal(const CounterExample &problem) : problem_(&problem) {}

    [[nodiscard]] static bool supports(DualStep rule, bool mixes) { return rule != DualStep::polak_ribiere && !mixes; }

    void begin(const State<Vector> &start) { residual_.resize(start.y.size()); }

    double step(State<Vector> &s, const StepSizes &steps, const FusedRules<Vector> &rules, UpperUpdate<Vector> &move,
                Vector &d) {
      move.begin();
      if (rules.dual == DualStep::constant) {
        in_pieces(s.y.size(), [&](Index first, Index count) {
          kernels::do_diagonal_step(kernels::DiagonalStep<Scalar>{.count = static_cast<std::size_t>(count),
                                                                  .a = problem_->a_.diagonal(first),
                                                                  .x = s.x.data() + first,
                                                                  .z0 = problem_->z0_.data() + first,
                                                                  .beta = static_cast<Scalar>(steps.beta),
                                                                  .eta = static_cast<Scalar>(steps.eta),
                                                                  .y = s.y.data() + first,
                                                                  .v = s.v.data() + first,
                                                                  .d = d.data() + first});
          move.move(steps.alpha, d, s.x, first, count);
        });
        return steps.eta;
      }
      return searching_step(s, steps, rules, move, d);
    }
    template <class Archive> void archive(Archive & /*members*/) {} // nothing is carried from step to step

  private:
    double searching_step(State<Vector> &s, const StepSizes &steps, const FusedRules<Vector> &rules,
                          UpperUpdate<Vector> &move, Vector &d) {
      const auto &a = problem_->a_;
      const auto beta = static_cast<Scalar>(steps.beta);
      double rr = 0.0;
      double rhr = 0.0;
      in_pieces(s.y.size(), [&](Index first, Index count) {
        auto y = s.y.segment(first, count);
        auto v = s.v.segment(first, count);
        y -= beta * (a.rows(first, y) - s.x.segment(first, count));
        auto r = residual_.segment(first, count);
        r = a.rows(first, y - v);
        rr += static_cast<double>(r.squaredNorm());
        rhr += static_cast<double>(r.dot(a.rows(first, r)));
      });
      const double eta = rules.relaxation * rules.search->step(rr, rhr, rr);
      in_pieces(s.y.size(), [&](Index first, Index count) {
        s.v.segment(first, count) += static_cast<Scalar>(eta) * residual_.segment(first, count);
        d.segment(first, count) =
            s.x.segment(first, count) - problem_->z0_.segment(first, count) + s.v.segment(first, count);
        move.move(steps.alpha, d, s.x, first, count);
      });
      return eta;
    }

    template <class Work> static void in_pieces(Index n, const Work &work) {
      constexpr Index piece = 512;
      for (Index first = 0; first < n; first += piece) {
        work(first, std::min(piece, n - first));
      }
    }

    const CounterExample *problem_;
    Vector residual_;
  };

  static constexpr bool is_dense = std::same_as<Matrix, DenseSpd<Scalar>>;
  static constexpr bool is_diagonal = std::same_as<Matrix, IdentityMatrix> || std::same_as<Matrix, DiagonalSpd<Scalar>>;
  using Fused = std::conditional_t<is_dense, FusedDense, FusedDiagonal>;

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return a_.size(); }
  [[nodiscard]] Index y_size() const { return a_.size(); }
  [[nodiscard]] const Matrix &matrix() const { return a_; }

  [[nodiscard]] std::optional<Fused> fused_bagdc() const requires(is_dense || is_diagonal) { return Fused(*this); }

  [[nodiscard]] State<Vector> start() const {
    const Vector everywhere = Vector::Constant(a_.size(), static_cast<Scalar>(start_));
    return {everywhere, everywhere, Vector::Zero(a_.size())};
  }

  /// x* = (A + I)⁻¹Az₀ and y* = (A + I)⁻¹z₀, each by a solve of its own, since x* = z₀ − y* would lose the digits of a
  /// small one. None where half of the digits cannot be had.
  [[nodiscard]] std::optional<Answer<Vector>> answer() const {
    Vector product = zeros_like(z0_);
    a_.apply(z0_, product);
    const auto x = solved_with_identity(product);
    const auto y = solved_with_identity(z0_);
    if (!x || !y) {
      return std::nullopt;
    }
    return Answer<Vector>{*x, *y, *y, 0.5 * dot(z0_, *y)};
  }

  /// y*(x) = A⁻¹x and v*(x) = A⁻¹Ay* = y*.
  bool respond(const Vector &x, Vector &y, Vector &v) const {
    if constexpr (SolvableOperator<Matrix, Vector>) {
      a_.solve(x, y);
      v = y;
      return true;
    } else {
      return false;
    }
  }

private:
  /// (A + I)⁻¹b: in closed form where A is diagonal, otherwise by conjugate gradients. No eigenvalue of A + I is below
  /// one, so that the error is at most the residual, and what rounding adds to that.
  [[nodiscard]] std::optional<Vector> solved_with_identity(const Vector &b) const {
    Vector product = zeros_like(b);
    if constexpr (is_diagonal) {
      const Vector ones = Vector::Ones(b.size());
      a_.apply(ones, product);
      return Vector(b.cwiseQuotient(product + ones));
    } else {
      const auto shifted = [&](const Vector &in, Vector &out) {
        a_.apply(in, out);
        out += in;
      };
      Vector solution = zeros_like(b);
      ConjugateGradient<Vector> linear;
      for (int round = 0; round < 4; ++round) {
        (void)linear.solve(shifted, b, solution, {.tolerance = precision(b), .max_steps = 10 * b.size()}, round == 0);
      }
      shifted(solution, product);
      const double largest = 1.0 + largest_curvature(*this, solution, solution);
      const double rounding = precision(b) * std::sqrt(static_cast<double>(b.size())) * largest * norm(solution);
      const double error = norm(Vector(b - product)) + rounding;
      return error <= std::sqrt(precision(b)) * norm(solution) ? std::optional(solution) : std::nullopt;
    }
  }

  Matrix a_;
  Vector z0_;
  double start_;
};

template <class Matrix, class Vector, class... Start>
CounterExample(Matrix, Vector, Start...) -> CounterExample<typename Vector::Scalar, Matrix>;

enum class MatrixKind : std::uint8_t { identity, diagonal, dense };

constexpr std::array<std::string_view, 3> matrix_kind_names{"identity", "diagonal", "dense"};
constexpr const auto &names_of(MatrixKind /*unused*/) { return matrix_kind_names; }

/// The example by name and options.
struct CounterExampleSettings {
  static constexpr std::string_view name = "counter-example";
  static constexpr std::string_view title = "the paper's counter-example: naive accelerations end at the wrong point";

  Index n = 100;
  MatrixKind matrix = MatrixKind::identity;
  double condition = 10.0;
  double smallest = 1.0;
  std::string matrix_file = {};
  double start = 2.0;
  std::uint64_t seed = 0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("n", self.n, at_least_one, "entries of x and of y");
    visit("matrix", self.matrix, any_number, "kind of A");
    visit("condition", self.condition, Bound{.low = 1.0, .high = infinity, .high_open = true},
          "condition number of A where it is diagonal or dense");
    visit("smallest", self.smallest, finite_positive, "smallest eigenvalue of A where it is diagonal or dense");
    visit("matrix-file", self.matrix_file, any_number, "read a dense A from this text file instead");
    visit("start", self.start, finite_number, "every entry of x0 and y0");
    visit("seed", self.seed, non_negative, "seed of a dense A");
  }

  /// Files that make() reads.
  [[nodiscard]] std::vector<std::string> input_files() const {
    return matrix_file.empty() ? std::vector<std::string>() : std::vector{matrix_file};
  }

  /// About how many numbers the problem and a run on it hold.
  [[nodiscard]] double numbers() const {
    const auto size = static_cast<double>(n);
    return 20.0 * size + (matrix == MatrixKind::dense ? 3.0 * size * size : 0.0);
  }

  /// z₀ = e. Throws InvalidInput where that is larger than memory.
  template <class Scalar> [[nodiscard]] AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> make() const;
};

extern template AnyProblem<Eigen::VectorXf> CounterExampleSettings::make<float>() const;
extern template AnyProblem<Eigen::VectorXd> CounterExampleSettings::make<double>() const;

static_assert(AggregatedProblem<CounterExample<double, IdentityMatrix>>);
static_assert(FusedProblem<CounterExample<float, DenseSpd<float>>>);
static_assert(AnsweredProblem<CounterExample<double, DiagonalSpd<double>>>);

} // namespace duplex
