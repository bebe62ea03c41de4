#pragma once
// The upper level of most families: the loss of a linear model on samples that the lower level does not see, and a
// prior on x,
//
//   F = ±(1/N) Σ_i ℓ(a_i·y, t_i) + (ρ/2)‖x‖²,
//
// minus where the upper level wants the model to be bad.

#include "zoo/products.hpp"
#include "zoo/samples.hpp"

#include <duplex/problem/problem.hpp>

namespace duplex::zoo {

template <class T> struct HeldOut {
  Samples<T> samples;
  T prior = T(0); ///< ρ
  T sign = T(1);
};

template <class T, class Loss> class HeldOutLoss : public Point<VectorOver<T>> {
public:
  using Vector = VectorOver<T>;

  explicit HeldOutLoss(const HeldOut<T> &data) : data_(&data) {}

  void at(const Vector &x, const Vector &y) {
    Point<Vector>::at(x, y);
    scores_.forget();
  }
  [[nodiscard]] T value() {
    T sum = T(0);
    const Vector &s = scores();
    for (Index i = 0; i < s.size(); ++i) {
      sum += Loss::value(s[i], target(i));
    }
    return sum * factor() + T(0.5) * data_->prior * this->x().squaredNorm();
  }
  void grad_x(Vector &out) const { out = data_->prior * this->x(); }
  void grad_y(Vector &out) {
    const Vector &s = scores();
    rows_.resize(s.size());
    for (Index i = 0; i < s.size(); ++i) {
      rows_[i] = factor() * Loss::slope(s[i], target(i));
    }
    multiply_transposed(data_->samples.features, rows_, out);
  }
  void hess_yy(const Vector &v, Vector &out) {
    const Vector &s = scores();
    multiply(data_->samples.features, v, rows_);
    for (Index i = 0; i < s.size(); ++i) {
      rows_[i] *= factor() * Loss::curvature(s[i], target(i));
    }
    multiply_transposed(data_->samples.features, rows_, out);
  }
  void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(this->x().size()); }

private:
  [[nodiscard]] T factor() const { return data_->sign / data_->samples.count(); }
  [[nodiscard]] T target(Index i) const { return data_->samples.targets[i]; }
  const Vector &scores() {
    return scores_.get([&](Vector &out) { multiply(data_->samples.features, this->y(), out); });
  }

  const HeldOut<T> *data_;
  Kept<Vector> scores_;
  Vector rows_;
};

} // namespace duplex::zoo
