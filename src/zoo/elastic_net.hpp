#pragma once
// Regression with a smooth elastic net, whose two weights are tuned on held-out samples:
//
//   f = 1/(2N) ‖Ay − t‖² + e^{x₁} Σ_j √(y_j² + ε²) + ½ e^{x₂} ‖y‖²

#include "zoo/held_out_loss.hpp"
#include "zoo/losses.hpp"

#include <memory>

namespace duplex::zoo {

struct ElasticNetSettings {
  Index features = 40;
  Index informative = 8;
  Index training = 50;
  Index validation = 50;
  double noise = 1.0;
  double epsilon = 0.0625;
  std::uint64_t seed = 0;
};

template <class T> class ElasticNet {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Samples<T> training;
    HeldOut<T> held_out;
    T epsilon;
  };

  explicit ElasticNet(const ElasticNetSettings &settings) {
    Draws draws(settings.seed);
    const SampleModel model{.weights = sparse_weights(draws, settings.features, settings.informative),
                            .noise = settings.noise,
                            .correlation = 0.25};
    const auto training = draw_samples(draws, model, settings.training);
    const auto validation = draw_samples(draws, model, settings.validation);
    data_ = std::make_shared<const Data>(
        Data{rounded<T>(training), {.samples = rounded<T>(validation)}, rounded<T>(settings.epsilon)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      misfit_.forget();
      lengths_.forget();
    }
    [[nodiscard]] T value() {
      return T(0.5) * misfit().squaredNorm() / data_->training.count() + first() * lengths().sum() +
             T(0.5) * second() * this->y().squaredNorm();
    }
    void grad_y(Vector &out) {
      multiply_transposed(data_->training.features, misfit(), out);
      out /= data_->training.count();
      out.array() += (first() / lengths().array() + second()) * this->y().array();
    }
    void hess_yy(const Vector &v, Vector &out) {
      multiply(data_->training.features, v, rows_);
      multiply_transposed(data_->training.features, rows_, out);
      out = out / data_->training.count() + bending().cwiseProduct(v);
    }
    void cross_xy(const Vector &v, Vector &out) {
      out.resize(2);
      out[0] = first() * (this->y().array() * v.array() / lengths().array()).sum();
      out[1] = second() * this->y().dot(v);
    }
    void hessian(Matrix &out) {
      gram(data_->training.features, out);
      out /= data_->training.count();
      out.diagonal() += bending();
    }

  private:
    [[nodiscard]] T first() const { return std::exp(this->x()[0]); }
    [[nodiscard]] T second() const { return std::exp(this->x()[1]); }
    const Vector &misfit() {
      return misfit_.get([&](Vector &out) {
        multiply(data_->training.features, this->y(), out);
        out -= data_->training.targets;
      });
    }
    /// √(y² + ε²), entry by entry.
    const Vector &lengths() {
      return lengths_.get(
          [&](Vector &out) { out = (this->y().array().square() + data_->epsilon * data_->epsilon).sqrt(); });
    }
    /// The penalties' second derivatives: e^{x₁} ε²/(y² + ε²)^{3/2} + e^{x₂}.
    Vector bending() { return first() * data_->epsilon * data_->epsilon / lengths().array().cube() + second(); }

    const Data *data_;
    Kept<Vector> misfit_;
    Kept<Vector> lengths_;
    Vector rows_;
  };

  using Upper = HeldOutLoss<T, SquaredLoss>;

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(data_->held_out); }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return data_->training.features.cols(); }
  [[nodiscard]] State<Vector> start(int k = 0) const {
    return {start_near<T>(Eigen::VectorXd::Constant(2, -2.0), 1.0, k), Vector::Zero(y_size()), {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
