#pragma once
// Samples of which some have wrong targets, each with a weight that held-out samples judge:
//
//   f = (1/N) Σ_i w(x_i) ℓ(a_i·y, t_i) + (λ/2)‖y‖²
//
// where w is the sigmoid of a logit, or x_i itself between 0 and 1.

#include "zoo/held_out_loss.hpp"
#include "zoo/losses.hpp"

#include <cstdint>
#include <limits>
#include <memory>

namespace duplex::zoo {

enum class Weight : std::uint8_t { of_logit, itself };

struct WeightedSettings {
  SampleModel model; ///< of the training samples; the held-out ones have no wrong targets
  Index training = 80;
  Index validation = 60;
  double ridge = 0.01; ///< λ
  Weight weight = Weight::of_logit;
  std::uint64_t seed = 0;
};

template <class T, class Loss> class Weighted {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Samples<T> training;
    HeldOut<T> held_out;
    T ridge;
    Weight weight;
  };

  explicit Weighted(const WeightedSettings &settings) {
    Draws draws(settings.seed);
    SampleModel model = settings.model;
    const auto training = draw_samples(draws, model, settings.training);
    model.wrong_targets = 0.0;
    const auto validation = draw_samples(draws, model, settings.validation);
    data_ = std::make_shared<const Data>(
        Data{rounded<T>(training), {.samples = rounded<T>(validation)}, rounded<T>(settings.ridge), settings.weight});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      scores_.forget();
      weights_.forget();
      slopes_.forget();
      curvatures_.forget();
    }
    [[nodiscard]] T value() {
      T sum = T(0);
      for (Index i = 0; i < scores().size(); ++i) {
        sum += weights()[i] * Loss::value(scores()[i], data_->training.targets[i]);
      }
      return sum + T(0.5) * data_->ridge * this->y().squaredNorm();
    }
    void grad_y(Vector &out) {
      rows_ = weights().cwiseProduct(slopes());
      multiply_transposed(data_->training.features, rows_, out);
      out += data_->ridge * this->y();
    }
    void hess_yy(const Vector &v, Vector &out) {
      multiply(data_->training.features, v, rows_);
      rows_.array() *= curvatures().array();
      multiply_transposed(data_->training.features, rows_, out);
      out += data_->ridge * v;
    }
    /// w'(x_i) ℓ'_i (a_i·v)/N, where the sigmoid's slope is w(1 − w).
    void cross_xy(const Vector &v, Vector &out) {
      multiply(data_->training.features, v, out);
      out.array() *= slopes().array();
      if (data_->weight == Weight::itself) {
        out /= data_->training.count();
      } else {
        out.array() *= weights().array() * (T(1) - data_->training.count() * weights().array());
      }
    }
    void hessian(Matrix &out) {
      weighted_gram(data_->training.features, curvatures(), out);
      out.diagonal().array() += data_->ridge;
    }

  private:
    const Vector &scores() {
      return scores_.get([&](Vector &out) { multiply(data_->training.features, this->y(), out); });
    }
    /// w(x_i)/N
    const Vector &weights() {
      return weights_.get([&](Vector &out) {
        out = this->x();
        if (data_->weight == Weight::of_logit) {
          out = out.unaryExpr([](T logit) { return sigmoid(logit); });
        }
        out /= data_->training.count();
      });
    }
    const Vector &slopes() {
      return slopes_.get([&](Vector &out) {
        out = scores().binaryExpr(data_->training.targets, [](T s, T t) { return Loss::slope(s, t); });
      });
    }
    /// w(x_i) ℓ''_i/N
    const Vector &curvatures() {
      return curvatures_.get([&](Vector &out) {
        out = scores().binaryExpr(data_->training.targets, [](T s, T t) { return Loss::curvature(s, t); });
        out.array() *= weights().array();
      });
    }

    const Data *data_;
    Kept<Vector> scores_;
    Kept<Vector> weights_;
    Kept<Vector> slopes_;
    Kept<Vector> curvatures_;
    Vector rows_;
  };

  using Upper = HeldOutLoss<T, Loss>;

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(data_->held_out); }
  [[nodiscard]] Index x_size() const { return data_->training.features.rows(); }
  [[nodiscard]] Index y_size() const { return data_->training.features.cols(); }
  /// Logits of zero, or weights of one half.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const bool is_itself = data_->weight == Weight::itself;
    const Vector x =
        start_near<T>(Eigen::VectorXd::Constant(x_size(), is_itself ? 0.5 : 0.0), is_itself ? 0.25 : 1.0, k);
    return {x.cwiseMax(lower_bound()).cwiseMin(upper_bound()), Vector::Zero(y_size()), {}};
  }
  [[nodiscard]] Vector lower_bound() const {
    return Vector::Constant(x_size(), data_->weight == Weight::itself ? T(0) : -std::numeric_limits<T>::infinity());
  }
  [[nodiscard]] Vector upper_bound() const {
    return Vector::Constant(x_size(), data_->weight == Weight::itself ? T(1) : std::numeric_limits<T>::infinity());
  }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
