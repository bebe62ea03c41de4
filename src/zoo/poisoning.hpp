#pragma once
// Data poisoning: an attacker moves the features of some training samples a little, so that the model that is fitted to
// them is as bad as possible on clean samples. With δ_i the rows of x, zero for samples out of reach,
//
//   f = (1/N) Σ_i log(1 + e^{−t_i (a_i + δ_i)·y}) + (λ/2)‖y‖²,  |δ_ij| ≤ r,
//
// and F is minus the loss on clean samples.

#include "zoo/held_out_loss.hpp"
#include "zoo/losses.hpp"

#include <cstdint>
#include <memory>

namespace duplex::zoo {

struct PoisoningSettings {
  Index features = 6;
  Index training = 50;
  Index poisoned = 8;
  Index validation = 60;
  double radius = 0.5;
  double ridge = 0.05;
  std::uint64_t seed = 0;
};

template <class T> class Poisoning {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Samples<T> training;
    HeldOut<T> held_out;
    Index poisoned;
    T radius;
    T ridge;
  };

  explicit Poisoning(const PoisoningSettings &settings) {
    Draws draws(settings.seed);
    const SampleModel model{.targets = Targets::signs, .weights = draws.normals(settings.features), .noise = 0.5};
    const auto training = draw_samples(draws, model, settings.training);
    const auto validation = draw_samples(draws, model, settings.validation);
    data_ = std::make_shared<const Data>(Data{rounded<T>(training),
                                              {.samples = rounded<T>(validation), .sign = T(-1)},
                                              settings.poisoned,
                                              rounded<T>(settings.radius),
                                              rounded<T>(settings.ridge)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      features_.forget();
      scores_.forget();
    }
    [[nodiscard]] T value() {
      T sum = T(0);
      for (Index i = 0; i < scores().size(); ++i) {
        sum += LogisticLoss::value(scores()[i], data_->training.targets[i]);
      }
      return sum / data_->training.count() + T(0.5) * data_->ridge * this->y().squaredNorm();
    }
    void grad_y(Vector &out) {
      multiply_transposed(features(), slopes(), out);
      out += data_->ridge * this->y();
    }
    void hess_yy(const Vector &v, Vector &out) {
      multiply_transposed(features(), along(v), out);
      out += data_->ridge * v;
    }
    /// With ∇y f·v = (1/N) Σ ℓ'_i (a_i + δ_i)·v + λy·v, the row of δ_i is (ℓ''_i ((a_i + δ_i)·v) y + ℓ'_i v)/N.
    void cross_xy(const Vector &v, Vector &out) {
      const Vector bent = along(v);
      const Vector slope = slopes();
      out.resize(this->x().size());
      Eigen::Map<Matrix> rows(out.data(), data_->poisoned, v.size());
      rows.noalias() = bent.head(data_->poisoned) * this->y().transpose();
      rows.noalias() += slope.head(data_->poisoned) * v.transpose();
    }
    void hessian(Matrix &out) {
      weighted_gram(features(), curvatures(), out);
      out.diagonal().array() += data_->ridge;
    }

  private:
    const Matrix &features() {
      return features_.get([&](Matrix &out) {
        out = data_->training.features;
        out.topRows(data_->poisoned) += Eigen::Map<const Matrix>(this->x().data(), data_->poisoned, out.cols());
      });
    }
    const Vector &scores() {
      return scores_.get([&](Vector &out) { multiply(features(), this->y(), out); });
    }
    /// ℓ''_i ((a_i + δ_i)·v)/N
    Vector along(const Vector &v) {
      Vector out;
      multiply(features(), v, out);
      out.array() *= curvatures().array();
      return out;
    }
    Vector slopes() {
      return scores().binaryExpr(data_->training.targets, [](T s, T t) { return LogisticLoss::slope(s, t); }) /
             data_->training.count();
    }
    Vector curvatures() {
      return scores().unaryExpr([](T s) { return LogisticLoss::curvature(s, T(1)); }) / data_->training.count();
    }

    const Data *data_;
    Kept<Matrix> features_;
    Kept<Vector> scores_;
  };

  using Upper = HeldOutLoss<T, LogisticLoss>;

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(data_->held_out); }
  [[nodiscard]] Index x_size() const { return data_->poisoned * y_size(); }
  [[nodiscard]] Index y_size() const { return data_->training.features.cols(); }
  /// Nothing moved, or moved at random within reach.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const Vector x = start_near<T>(Eigen::VectorXd::Zero(x_size()), 0.5 * static_cast<double>(data_->radius), k);
    return {x.cwiseMax(lower_bound()).cwiseMin(upper_bound()), Vector::Zero(y_size()), {}};
  }
  [[nodiscard]] Vector lower_bound() const { return Vector::Constant(x_size(), -data_->radius); }
  [[nodiscard]] Vector upper_bound() const { return Vector::Constant(x_size(), data_->radius); }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
