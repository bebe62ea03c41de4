#pragma once
// A seller sets prices x, and the buyer's purchases y maximize a concave utility:
//
//   f = ½ yᵀQy − (a − s∘x)·y − w Σ_i log(1 + y_i)
//   F = −(x − c)·y,
//
// minus the seller's profit. s is one, or zero for goods whose price the buyer does not feel. Where w = 0 and s = 1,
// y* = Q⁻¹(a − x), and the best prices are x* = (a + c)/2.

#include "zoo/separable.hpp"

#include <limits>

namespace duplex::zoo {

struct PricingSettings {
  Index goods = 8;
  double curiosity = 0.0;                               ///< w
  double cap = std::numeric_limits<double>::infinity(); ///< prices are from 0 to this
  Index captive = 0;                                    ///< goods at the end of the list with s = 0
  std::uint64_t seed = 0;
};

template <class T> class Pricing {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Matrix substitution; ///< Q
    Vector appetite;     ///< a
    Vector cost;         ///< c
    Vector felt;         ///< s
    T curiosity;         ///< w
    T cap;
  };

  explicit Pricing(const PricingSettings &settings) {
    Draws draws(settings.seed);
    const Eigen::MatrixXd substitution = draw_spd(draws, settings.goods, 0.5, 5.0);
    const Eigen::VectorXd cost = 0.5 + draws.uniforms(settings.goods).array();
    const Eigen::VectorXd appetite = 4.0 + 2.0 * draws.uniforms(settings.goods).array();
    Eigen::VectorXd felt = Eigen::VectorXd::Ones(settings.goods);
    felt.tail(settings.captive).setZero();
    data_ = std::make_shared<const Data>(Data{rounded<T>(substitution), rounded<T>(appetite), rounded<T>(cost),
                                              rounded<T>(felt), rounded<T>(settings.curiosity),
                                              static_cast<T>(settings.cap)});
  }

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    [[nodiscard]] T value() const {
      const T utility = (data_->appetite - data_->felt.cwiseProduct(this->x())).dot(this->y());
      const T logarithms = data_->curiosity > T(0) ? (T(1) + this->y().array()).log().sum() : T(0);
      return T(0.5) * this->y().dot(data_->substitution * this->y()) - utility - data_->curiosity * logarithms;
    }
    void grad_y(Vector &out) const {
      out.noalias() = data_->substitution * this->y();
      out += data_->felt.cwiseProduct(this->x()) - data_->appetite;
      out.array() -= data_->curiosity / (T(1) + this->y().array());
    }
    void hess_yy(const Vector &v, Vector &out) const {
      out.noalias() = data_->substitution * v;
      out += bending().cwiseProduct(v);
    }
    void cross_xy(const Vector &v, Vector &out) const { out = data_->felt.cwiseProduct(v); }
    void hessian(Matrix &out) const {
      out = data_->substitution;
      out.diagonal() += bending();
    }

  private:
    [[nodiscard]] Vector bending() const { return data_->curiosity / (T(1) + this->y().array()).square(); }

    const Data *data_;
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] T value() const { return (data_->cost - this->x()).dot(this->y()); }
    void grad_x(Vector &out) const { out = -this->y(); }
    void grad_y(Vector &out) const { out = data_->cost - this->x(); }
    void hess_yy(const Vector &v, Vector &out) const { out.setZero(v.size()); }
    void cross_xy(const Vector &v, Vector &out) const { out = -v; }

  private:
    const Data *data_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return data_->cost.size(); }
  [[nodiscard]] Index y_size() const { return data_->cost.size(); }
  /// Prices at cost.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const Vector x = start_near<T>(data_->cost.template cast<double>(), 0.5, k);
    return {x.cwiseMax(lower_bound()).cwiseMin(upper_bound()), Vector::Zero(y_size()), {}};
  }
  [[nodiscard]] Vector lower_bound() const {
    return Vector::Constant(x_size(), data_->cap < std::numeric_limits<T>::infinity() ? T(0) : -data_->cap);
  }
  [[nodiscard]] Vector upper_bound() const { return Vector::Constant(x_size(), data_->cap); }

  /// Where the buyer's utility is quadratic and every price is felt.
  [[nodiscard]] Vector best_prices() const { return T(0.5) * (data_->appetite + data_->cost); }

private:
  std::shared_ptr<const Data> data_;
};

} // namespace duplex::zoo
