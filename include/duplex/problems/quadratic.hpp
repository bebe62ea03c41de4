#pragma once
// Quadratic bilevel problems with cross terms in both levels, z = (x, y):
//
//   F = ½zᵀGz + gᵀz,   f = ½yᵀHy + xᵀCy + hᵀy,
//
// G symmetric positive definite, H symmetric positive (semi)definite. The answer
// solves the linear KKT system Gz + g = Kᵀv, Kz + h = 0 with K = (Cᵀ H).

#include <duplex/core/fields.hpp>
#include <duplex/measure/exact.hpp>
#include <duplex/measure/lyapunov.hpp>
#include <duplex/numerics/dense.hpp>
#include <duplex/problem/any_problem.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace duplex {

template <class Scalar> class Quadratic {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

  struct Data {
    Matrix upper_hessian; ///< G, (n+m) × (n+m)
    Vector upper_linear;  ///< g
    Matrix lower_hessian; ///< H, m × m
    Matrix cross;         ///< C, n × m
    Vector lower_linear;  ///< h
  };

  /// Throws InvalidInput where sizes do not fit or G or H is not symmetric.
  explicit Quadratic(Data data);

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      hy_.forget();
    }
    [[nodiscard]] double value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);

  private:
    const Vector &hy();

    const Data *data_;
    Kept<Vector> hy_;
    Vector linear_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] double value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);

  private:
    const Data *data_;
    Vector gx_;
    Vector gy_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return data_->cross.rows(); }
  [[nodiscard]] Index y_size() const { return data_->cross.cols(); }
  [[nodiscard]] const Data &data() const { return *data_; }

  [[nodiscard]] State<Vector> start() const {
    return {Vector::Zero(x_size()), Vector::Zero(y_size()), Vector::Zero(y_size())};
  }

  [[nodiscard]] std::optional<Answer<Vector>> answer() const;

  /// y* = −H⁻¹(Cᵀx + h), v* = H⁻¹∇yF, where H is regular.
  bool respond(const Vector &x, Vector &y, Vector &v) const;

  /// The same problem with F, f, x and y in other units: one of x is `x` of before, and so on.
  struct Units {
    double upper = 1.0;
    double lower = 1.0;
    double x = 1.0;
    double y = 1.0;
  };
  [[nodiscard]] Quadratic in_units(const Units &units) const;

  /// The constants of Theorem 3.3, from the spectra.
  [[nodiscard]] ProblemConstants constants() const;

private:
  std::shared_ptr<const Data> data_;
  dense::SymmetricFactor<Scalar> factor_; ///< of H
};

/// A random problem: H with log-spaced spectrum in [1/condition, 1] and, if asked,
/// with its smallest eigenvalues set to zero; G with spectrum in [1/upper_condition, 1];
/// C random with spectral norm about `coupling`.
struct QuadraticSettings {
  static constexpr std::string_view name = "quadratic";
  static constexpr std::string_view title = "random quadratic problem with cross terms in both levels, answer known";

  Index n = 20;
  Index m = 30;
  double condition = 10.0;
  double upper_condition = 10.0;
  double coupling = 0.3;
  Index null_space = 0;
  std::uint64_t seed = 0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    const Bound condition_bound{.low = 1.0, .high = infinity, .high_open = true};
    visit("n", self.n, at_least_one, "entries of x");
    visit("m", self.m, at_least_one, "entries of y");
    visit("condition", self.condition, condition_bound, "condition number of the lower Hessian");
    visit("upper-condition", self.upper_condition, condition_bound, "condition number of the upper Hessian");
    visit("coupling", self.coupling, finite_non_negative, "size of the lower level's cross term");
    visit("null-space", self.null_space, non_negative, "dimensions in which the lower level is flat");
    visit("seed", self.seed, non_negative, "seed of the problem");
  }

  /// About how many numbers the problem and a run on it hold.
  [[nodiscard]] double numbers() const {
    const auto upper = static_cast<double>(n);
    const auto lower = static_cast<double>(m);
    return 3.0 * (upper + lower) * (upper + lower) + 5.0 * lower * lower + 2.0 * upper * lower;
  }

  /// Throws InvalidInput where that is larger than memory.
  template <class Scalar> [[nodiscard]] Quadratic<Scalar> generate() const;

  template <class Scalar> [[nodiscard]] AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> make() const;
};

extern template class Quadratic<float>;
extern template class Quadratic<double>;
extern template Quadratic<float> QuadraticSettings::generate() const;
extern template Quadratic<double> QuadraticSettings::generate() const;
extern template AnyProblem<Eigen::VectorXf> QuadraticSettings::make<float>() const;
extern template AnyProblem<Eigen::VectorXd> QuadraticSettings::make<double>() const;

static_assert(AggregatedProblem<Quadratic<double>> && AnsweredProblem<Quadratic<double>>);
static_assert(ClosedFormLower<Quadratic<double>>);

} // namespace duplex
