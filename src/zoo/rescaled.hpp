#pragma once
// A problem in other units: that of P at (Dx, Sy) with diagonal D and S.

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <memory>
#include <utility>

namespace duplex::zoo {

/// D and S as vectors.
template <class Vector> struct Scales {
  Vector x;
  Vector y;
};

template <class Level, class Vector> class RescaledLevel {
public:
  RescaledLevel(Level level, const Scales<Vector> &scales) : level_(std::move(level)), scales_(&scales) {}

  void at(const Vector &x, const Vector &y) {
    place_->x = scales_->x.cwiseProduct(x);
    place_->y = scales_->y.cwiseProduct(y);
    level_.at(place_->x, place_->y);
  }
  [[nodiscard]] auto value() { return level_.value(); }
  void grad_x(Vector &out) requires HasUpperSlope<Level, Vector> {
    level_.grad_x(out);
    out.array() *= scales_->x.array();
  }
  void grad_y(Vector &out) {
    level_.grad_y(out);
    out.array() *= scales_->y.array();
  }
  void hess_yy(const Vector &v, Vector &out) {
    scaled_ = scales_->y.cwiseProduct(v);
    level_.hess_yy(scaled_, out);
    out.array() *= scales_->y.array();
  }
  void cross_xy(const Vector &v, Vector &out) {
    scaled_ = scales_->y.cwiseProduct(v);
    level_.cross_xy(scaled_, out);
    out.array() *= scales_->x.array();
  }
  template <class Matrix> void hessian(Matrix &out) {
    level_.hessian(out);
    out.array().colwise() *= scales_->y.array();
    out.array().rowwise() *= scales_->y.array().transpose();
  }

private:
  Level level_;
  const Scales<Vector> *scales_;
  std::unique_ptr<Scales<Vector>> place_ =
      std::make_unique<Scales<Vector>>(); ///< where the level stands: it stays there
  Vector scaled_;
};

template <class P> class Rescaled {
public:
  using Vector = typename P::Vector;

  Rescaled(P problem, Vector x_scale, Vector y_scale)
      : problem_(std::move(problem)),
        scales_(std::make_shared<const Scales<Vector>>(Scales<Vector>{std::move(x_scale), std::move(y_scale)})) {}

  [[nodiscard]] auto lower() const {
    return RescaledLevel<decltype(problem_.lower()), Vector>(problem_.lower(), *scales_);
  }
  [[nodiscard]] auto upper() const {
    return RescaledLevel<decltype(problem_.upper()), Vector>(problem_.upper(), *scales_);
  }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  /// The same point in these units.
  [[nodiscard]] State<Vector> start(int k = 0) const {
    const State<Vector> start = problem_.start(k);
    return {start.x.cwiseQuotient(scales_->x), start.y.cwiseQuotient(scales_->y), {}};
  }

private:
  P problem_;
  std::shared_ptr<const Scales<Vector>> scales_;
};

/// Units that are spread evenly, in their logarithms, over 1/largest to largest, in an order drawn from the seed. They
/// are powers of two: changing units changes no digit.
[[nodiscard]] Eigen::VectorXd spread_units(Index size, double largest, std::uint64_t seed);

/// The same problem with a mistake in it: ∂/∂x (∇y f·v) has kept the factor ½ of the square that it is the derivative
/// of.
template <class P> class WithWrongCross {
public:
  using Vector = typename P::Vector;

  explicit WithWrongCross(P problem) : problem_(std::move(problem)) {}

  class Lower : public P::Lower {
  public:
    explicit Lower(typename P::Lower right) : P::Lower(std::move(right)) {}
    void cross_xy(const Vector &v, Vector &out) {
      P::Lower::cross_xy(v, out);
      out *= typename Vector::Scalar(0.5);
    }
  };

  [[nodiscard]] Lower lower() const { return Lower(problem_.lower()); }
  [[nodiscard]] auto upper() const { return problem_.upper(); }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] State<Vector> start(int k = 0) const { return problem_.start(k); }

private:
  P problem_;
};

} // namespace duplex::zoo
