#pragma once
// A lower level with many minimizers, y = (y₁, y₂) with y₂ free:
//
//   F = ½‖x − y₂‖² + ½‖y₁ − e‖²,   f = ½‖y₁‖² − xᵀy₁.
//
// S(x) = {y₁ = x}. Optimum x = y₁ = y₂ = e, F* = 0, v₁* = 0 and v₂* arbitrary (0
// here). Methods that descend on f alone never move y₂ and end elsewhere.

#include <duplex/core/fields.hpp>
#include <duplex/core/memory.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problem/problem.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace duplex {

template <class Scalar> class MultipleMinimizers {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// x has n entries, y has 2n; the start is `start` everywhere.
  explicit MultipleMinimizers(Index n, double start = 0.01) : n_(n), start_(start) {
    if (n < 1) {
      throw InvalidInput("multiple-minimizers: n = " + std::to_string(n) + ", expected at least 1");
    }
    if (!std::isfinite(start)) {
      throw InvalidInput("multiple-minimizers: start = " + field_text(start) + ", expected a finite number");
    }
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(Index n) : n_(n) {}
    [[nodiscard]] double value() const {
      const auto y1 = this->y().head(n_);
      return 0.5 * static_cast<double>(y1.squaredNorm()) - static_cast<double>(this->x().dot(y1));
    }
    void grad_x(Vector &out) const { out = -this->y().head(n_); }
    void grad_y(Vector &out) const {
      out.resize(2 * n_);
      out.head(n_) = this->y().head(n_) - this->x();
      out.tail(n_).setZero();
    }
    void hess_yy(const Vector &v, Vector &out) const {
      out.resize(2 * n_);
      out.head(n_) = v.head(n_);
      out.tail(n_).setZero();
    }
    void cross_xy(const Vector &v, Vector &out) const { out = -v.head(n_); }

  private:
    Index n_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(Index n) : n_(n) {}
    [[nodiscard]] double value() const {
      return 0.5 * static_cast<double>((this->x() - this->y().tail(n_)).squaredNorm()) +
             0.5 * static_cast<double>((this->y().head(n_).array() - Scalar(1)).matrix().squaredNorm());
    }
    void grad_x(Vector &out) const { out = this->x() - this->y().tail(n_); }
    void grad_y(Vector &out) const {
      out.resize(2 * n_);
      out.head(n_) = this->y().head(n_).array() - Scalar(1);
      out.tail(n_) = this->y().tail(n_) - this->x();
    }
    void hess_yy(const Vector &v, Vector &out) const { out = v; }
    void cross_xy(const Vector &v, Vector &out) const { out = -v.tail(n_); }

  private:
    Index n_;
  };

  [[nodiscard]] Lower lower() const { return Lower(n_); }
  [[nodiscard]] Upper upper() const { return Upper(n_); }
  [[nodiscard]] Index x_size() const { return n_; }
  [[nodiscard]] Index y_size() const { return 2 * n_; }

  [[nodiscard]] State<Vector> start() const {
    const auto everywhere = static_cast<Scalar>(start_);
    return {Vector::Constant(n_, everywhere), Vector::Constant(2 * n_, everywhere), Vector::Zero(2 * n_)};
  }

  [[nodiscard]] std::optional<Answer<Vector>> answer() const {
    return Answer<Vector>{Vector::Ones(n_), Vector::Ones(2 * n_), Vector::Zero(2 * n_), 0.0};
  }

private:
  Index n_;
  double start_;
};

/// The example by name and options.
struct MultipleMinimizersSettings {
  static constexpr std::string_view name = "multiple-minimizers";
  static constexpr std::string_view title = "a lower level with many minimizers: the upper level must choose";

  Index n = 100;
  double start = 0.01;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("n", self.n, at_least_one, "entries of x; y has twice as many");
    visit("start", self.start, finite_number, "every entry of x0 and y0");
  }

  template <class Scalar> [[nodiscard]] AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> make() const {
    constexpr double numbers = 40.0; // that the problem and a run on it hold, for each of n
    require_memory(sizeof(Scalar) * numbers * static_cast<double>(n),
                   "multiple-minimizers with n = " + std::to_string(n));
    return MultipleMinimizers<Scalar>(n, start);
  }
};

static_assert(AggregatedProblem<MultipleMinimizers<double>> && AnsweredProblem<MultipleMinimizers<double>>);

} // namespace duplex
