#pragma once
// Ridge regression with one penalty per feature, tuned on validation data. x holds
// the logarithms of the penalties, y the weights of the model:
//
//   f = 1/(2N) ‖Xy − t‖² + ½ Σ_j e^{x_j} y_j²
//   F = 1/(2N') ‖X'y − t'‖² + (ρ/2)‖x‖²
//
// ρ > 0 keeps the penalties of useless features from running to infinity.

#include <duplex/core/fields.hpp>
#include <duplex/measure/exact.hpp>
#include <duplex/numerics/dense.hpp>
#include <duplex/problem/any_problem.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace duplex {

template <class Scalar> class Ridge {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

  struct Samples {
    Matrix features; ///< a row per sample
    Vector targets;
  };

  /// Throws InvalidInput where the samples do not fit together. Neither level sees the held-out samples.
  Ridge(Samples training, Samples validation, double rho, std::optional<Samples> held_out = {});

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Ridge &problem) : training_(&problem.data_->training) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      penalty_.forget();
      misfit_.forget();
    }
    [[nodiscard]] double value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);

  private:
    [[nodiscard]] Scalar samples() const { return static_cast<Scalar>(training_->targets.size()); }
    const Vector &penalty();
    const Vector &misfit();

    const Samples *training_;
    Kept<Vector> penalty_;
    Kept<Vector> misfit_;
    Vector image_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Ridge &problem) : validation_(&problem.data_->validation), rho_(problem.data_->rho) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      misfit_.forget();
    }
    [[nodiscard]] double value();
    void grad_x(Vector &out);
    void grad_y(Vector &out);
    void hess_yy(const Vector &v, Vector &out);
    void cross_xy(const Vector &v, Vector &out);

  private:
    [[nodiscard]] Scalar samples() const { return static_cast<Scalar>(validation_->targets.size()); }
    const Vector &misfit();

    const Samples *validation_;
    Scalar rho_;
    Kept<Vector> misfit_;
    Vector image_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return data_->training.features.cols(); }
  [[nodiscard]] Index y_size() const { return x_size(); }

  /// All penalties one, no weights.
  [[nodiscard]] State<Vector> start() const {
    return {Vector::Zero(x_size()), Vector::Zero(y_size()), Vector::Zero(y_size())};
  }

  /// 1/(2N'') ‖X''y − t''‖² on the held-out samples, where there are any.
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const;

  /// The stationary point of φ that a damped Newton's method finds from the start,
  /// to rounding; empty if it does not get there.
  [[nodiscard]] std::optional<Answer<Vector>> answer() const;

  /// y* = M⁻¹Xᵀt/N and v* = M⁻¹∇yF with M = XᵀX/N + diag(eˣ).
  bool respond(const Vector &x, Vector &y, Vector &v) const;

private:
  struct Data {
    Samples training;
    Samples validation;
    Scalar rho;
    std::optional<Samples> held_out;
    Matrix gram = {}; ///< XᵀX/N
  };

  struct Curvature {
    Vector y;
    Vector v;
    Vector gradient; ///< ∇φ
    Matrix hessian;  ///< ∇²φ
    Scalar value;    ///< φ
  };

  [[nodiscard]] dense::SymmetricFactor<Scalar> factor(const Vector &x) const; ///< of M
  void respond(const dense::SymmetricFactor<Scalar> &m, Vector &y, Vector &v) const;
  [[nodiscard]] Vector validation_slope(const Vector &y) const;
  [[nodiscard]] Scalar tolerance() const;
  [[nodiscard]] Curvature curvature(const Vector &x) const;

  std::shared_ptr<const Data> data_;
};

/// Synthetic regression: few features matter, the rest are there to be penalized.
struct RidgeSettings {
  static constexpr std::string_view name = "ridge";
  static constexpr std::string_view title = "ridge regression, one penalty per feature tuned on validation data";

  Index features = 20;
  Index informative = 5;
  Index training = 60;
  Index validation = 60;
  Index held_out = 60;
  double noise = 0.5;
  double rho = 1e-3;
  std::uint64_t seed = 0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("features", self.features, at_least_one, "entries of x and of y");
    visit("informative", self.informative, non_negative, "features that matter");
    visit("training", self.training, at_least_one, "samples of the lower level");
    visit("validation", self.validation, at_least_one, "samples of the upper level");
    visit("held-out", self.held_out, non_negative, "samples that neither level sees");
    visit("noise", self.noise, finite_non_negative, "standard deviation of the targets' noise");
    visit("rho", self.rho, finite_non_negative, "weight of ‖x‖² in the upper level");
    visit("seed", self.seed, non_negative, "seed of the samples");
  }

  /// About how many numbers the problem and a run on it hold.
  [[nodiscard]] double numbers() const {
    const auto columns = static_cast<double>(features);
    const double rows = static_cast<double>(training) + static_cast<double>(validation) + static_cast<double>(held_out);
    return columns * (2.0 * rows + 4.0 * columns + 20.0);
  }

  /// Throws InvalidInput where that is larger than memory.
  template <class Scalar> [[nodiscard]] Ridge<Scalar> generate() const;

  template <class Scalar> [[nodiscard]] AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> make() const;
};

extern template class Ridge<float>;
extern template class Ridge<double>;
extern template Ridge<float> RidgeSettings::generate() const;
extern template Ridge<double> RidgeSettings::generate() const;
extern template AnyProblem<Eigen::VectorXf> RidgeSettings::make<float>() const;
extern template AnyProblem<Eigen::VectorXd> RidgeSettings::make<double>() const;

static_assert(AggregatedProblem<Ridge<double>> && AnsweredProblem<Ridge<double>> && ClosedFormLower<Ridge<double>>);

} // namespace duplex
