#pragma once
// A problem whose y is positive, in the logarithms z = log y: each level g(x, y) becomes h(x, z) = g(x, eᶻ) with
//
//   ∇h = y∘∇y g,   ∇²h·v = y∘∇²yy g·(y∘v) + y∘∇y g∘v,   ∂/∂x (∇h·v) = ∂/∂x (∇y g·(y∘v)).

#include "zoo/draws.hpp"

#include <duplex/problem/problem.hpp>

#include <memory>
#include <utility>

namespace duplex::zoo {

template <class Level, class Vector> class LogLevel {
public:
  explicit LogLevel(Level level) : level_(std::move(level)) {}

  void at(const Vector &x, const Vector &z) {
    *y_ = z.array().exp();
    level_.at(x, *y_);
  }
  [[nodiscard]] auto value() { return level_.value(); }
  void grad_x(Vector &out) requires HasUpperSlope<Level, Vector> { level_.grad_x(out); }
  void grad_y(Vector &out) {
    level_.grad_y(out);
    out.array() *= y_->array();
  }
  void hess_yy(const Vector &v, Vector &out) {
    scaled_ = y_->cwiseProduct(v);
    slope_.resize(v.size());
    level_.hess_yy(scaled_, out);
    level_.grad_y(slope_);
    out = (out.array() + slope_.array() * v.array()) * y_->array();
  }
  void cross_xy(const Vector &v, Vector &out) {
    scaled_ = y_->cwiseProduct(v);
    level_.cross_xy(scaled_, out);
  }
  template <class Matrix> void hessian(Matrix &out) {
    level_.hessian(out);
    slope_.resize(y_->size());
    level_.grad_y(slope_);
    out.array().colwise() *= y_->array();
    out.array().rowwise() *= y_->array().transpose();
    out.diagonal() += slope_.cwiseProduct(*y_);
  }

private:
  Level level_;
  std::unique_ptr<Vector> y_ = std::make_unique<Vector>(); ///< where the level stands: it stays there
  Vector scaled_;
  Vector slope_;
};

template <class P> class LogVariables {
public:
  using Vector = typename P::Vector;

  explicit LogVariables(P problem) : problem_(std::move(problem)) {}

  [[nodiscard]] auto lower() const { return LogLevel<decltype(problem_.lower()), Vector>(problem_.lower()); }
  [[nodiscard]] auto upper() const { return LogLevel<decltype(problem_.upper()), Vector>(problem_.upper()); }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] State<Vector> start(int k = 0) const {
    State<Vector> start = problem_.start(k);
    start.y = start.y.array().log().eval();
    return start;
  }
  [[nodiscard]] Vector lower_bound() const { return problem_.lower_bound(); }
  [[nodiscard]] Vector upper_bound() const { return problem_.upper_bound(); }

private:
  P problem_;
};

} // namespace duplex::zoo
