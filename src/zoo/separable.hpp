#pragma once
// Lower levels that are a function of each entry, coupled by a quadratic form and tilted by x:
//
//   f = Σ_i g(y_i) + ½ yᵀQy − (Bx)·y
//   F = ½‖y − c‖² + κ Σ_i |y_i| + (ρ/2)‖x‖²
//
// Without Q, y* solves g'(y_i) = (Bx)_i, in closed form for most g.

#include "zoo/products.hpp"

#include <duplex/problem/problem.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

namespace duplex::zoo {

/// y²/2
struct Square {
  static constexpr double start = 0.0;
  template <class T> static T value(T y) { return T(0.5) * y * y; }
  template <class T> static T slope(T y) { return y; }
  template <class T> static T curvature(T /*y*/) { return T(1); }
};

/// y⁴/4 + δy²/2, all but flat at zero
struct Quartic {
  static constexpr double start = 0.0;
  static constexpr double delta = 0.0078125;
  template <class T> static T value(T y) { return T(0.25) * y * y * y * y + T(0.5 * delta) * y * y; }
  template <class T> static T slope(T y) { return y * y * y + T(delta) * y; }
  template <class T> static T curvature(T y) { return T(3) * y * y + T(delta); }
};

/// eʸ, with a minimizer only where Bx is positive
struct Exponential {
  static constexpr double start = 0.0;
  template <class T> static T value(T y) { return std::exp(y); }
  template <class T> static T slope(T y) { return std::exp(y); }
  template <class T> static T curvature(T y) { return std::exp(y); }
};

/// y²/2 − τ log y, which keeps y positive
struct LogBarrier {
  static constexpr double start = 1.0;
  static constexpr double weight = 0.125;
  template <class T> static T value(T y) { return T(0.5) * y * y - T(weight) * std::log(y); }
  template <class T> static T slope(T y) { return y - T(weight) / y; }
  template <class T> static T curvature(T y) { return T(1) + T(weight) / (y * y); }
};

/// y log y − y, for positive y
struct Entropy {
  static constexpr double start = 1.0;
  template <class T> static T value(T y) { return y * std::log(y) - y; }
  template <class T> static T slope(T y) { return std::log(y); }
  template <class T> static T curvature(T y) { return T(1) / y; }
};

struct SeparableSettings {
  Eigen::MatrixXd coupling;     ///< Q; empty where there is none
  Eigen::MatrixXd tilt;         ///< B
  Eigen::VectorXd wanted;       ///< c
  Eigen::VectorXd first_x;      ///< of the first start
  double kink = 0.0;            ///< κ
  double prior = 0.0;           ///< ρ
  double spread = 1.0;          ///< of the other starts
  bool starts_positive = false; ///< x of the other starts is multiplied by eⁿ with normal n, instead of moved by it
};

template <class T, class G> class Separable {
public:
  using Vector = VectorOver<T>;
  using Matrix = MatrixOver<T>;

  struct Data {
    Matrix coupling;
    Matrix tilt;
    Vector wanted;
    T kink;
    T prior;
    SeparableSettings settings;
  };

  explicit Separable(const SeparableSettings &settings)
      : data_(std::make_shared<const Data>(Data{rounded<T>(settings.coupling), rounded<T>(settings.tilt),
                                                rounded<T>(settings.wanted), rounded<T>(settings.kink),
                                                rounded<T>(settings.prior), settings})) {}

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const Data &data) : data_(&data) {}
    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      image_.forget();
      force_.forget();
    }
    [[nodiscard]] T value() {
      T sum = T(0);
      for (const T entry : this->y()) {
        sum += G::value(entry);
      }
      return sum + T(0.5) * this->y().dot(image()) - this->y().dot(force());
    }
    void grad_y(Vector &out) {
      out = this->y().unaryExpr([](T entry) { return G::slope(entry); }) + image() - force();
    }
    void hess_yy(const Vector &v, Vector &out) {
      apply(v, out);
      out += this->y().unaryExpr([](T entry) { return G::curvature(entry); }).cwiseProduct(v);
    }
    void cross_xy(const Vector &v, Vector &out) {
      multiply_transposed(data_->tilt, v, out);
      out = -out;
    }
    void hessian(Matrix &out) {
      out = data_->coupling;
      if (out.size() == 0) {
        out.setZero(this->y().size(), this->y().size());
      }
      out.diagonal() += this->y().unaryExpr([](T entry) { return G::curvature(entry); });
    }

  private:
    /// out = Qv
    void apply(const Vector &v, Vector &out) const {
      if (data_->coupling.size() == 0) {
        out.setZero(v.size());
      } else {
        multiply(data_->coupling, v, out);
      }
    }
    const Vector &image() {
      return image_.get([&](Vector &out) { apply(this->y(), out); });
    }
    const Vector &force() {
      return force_.get([&](Vector &out) { multiply(data_->tilt, this->x(), out); });
    }

    const Data *data_;
    Kept<Vector> image_; ///< Qy
    Kept<Vector> force_; ///< Bx
  };

  class Upper : public Point<Vector> {
  public:
    explicit Upper(const Data &data) : data_(&data) {}
    [[nodiscard]] T value() const {
      return T(0.5) * (this->y() - data_->wanted).squaredNorm() + data_->kink * this->y().template lpNorm<1>() +
             T(0.5) * data_->prior * this->x().squaredNorm();
    }
    void grad_x(Vector &out) const { out = data_->prior * this->x(); }
    void grad_y(Vector &out) const { out = this->y() - data_->wanted + data_->kink * this->y().cwiseSign(); }
    void hess_yy(const Vector &v, Vector &out) const { out = v; }
    void cross_xy(const Vector & /*v*/, Vector &out) const { out.setZero(this->x().size()); }

  private:
    const Data *data_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*data_); }
  [[nodiscard]] Upper upper() const { return Upper(*data_); }
  [[nodiscard]] Index x_size() const { return data_->tilt.cols(); }
  [[nodiscard]] Index y_size() const { return data_->tilt.rows(); }
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const SeparableSettings &settings = data_->settings;
    const Vector y = Vector::Constant(y_size(), T(G::start));
    if (settings.starts_positive) {
      const Eigen::VectorXd powers = start_near<double>(Eigen::VectorXd::Zero(x_size()), settings.spread, k);
      return {rounded<T>(Eigen::VectorXd(settings.first_x.array() * powers.array().exp())), y, {}};
    }
    return {start_near<T>(settings.first_x, settings.spread, k), y, {}};
  }

private:
  std::shared_ptr<const Data> data_;
};

/// A dense symmetric matrix with eigenvalues spread evenly, in their logarithms, over smallest to largest.
[[nodiscard]] Eigen::MatrixXd draw_spd(Draws &draws, Index size, double smallest, double largest);

} // namespace duplex::zoo
