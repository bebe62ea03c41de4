#pragma once
// f = Σ log cosh(Ay − Cx − t), which is all but linear far from its minimizers, and F = ½‖By − 1‖² + .05‖x‖². Where the
// columns of A and B come twice, f has many minimizers, H is singular and another one at every y, and F is as flat as f
// along its null space.

#include "support.hpp"

#include <Eigen/Cholesky>

namespace duplex::testing {

class SaturatingFit {
public:
  using Vector = Vec;

  SaturatingFit(Index columns, bool come_twice, std::uint64_t seed)
      : a_(matrix(4 * columns, columns, seed)), c_(matrix(4 * columns, 2, seed + 100)),
        t_(random_vector(4 * columns, seed + 200)), b_(Mat::Identity(columns, columns)) {
    if (come_twice) {
      a_ = (Mat(a_.rows(), 2 * columns) << a_, a_).finished();
      b_ = (Mat(columns, 2 * columns) << b_, b_).finished();
    }
  }

  class Lower : public Point<Vec> {
  public:
    explicit Lower(const SaturatingFit &fit) : fit_(&fit) {}
    [[nodiscard]] double value() const { return residuals().array().abs().unaryExpr(&log_cosh).sum(); }
    void grad_y(Vec &out) const { out = fit_->a_.transpose() * Vec(residuals().array().tanh()); }
    void hess_yy(const Vec &v, Vec &out) const { out = fit_->a_.transpose() * weighted(v); }
    void cross_xy(const Vec &v, Vec &out) const { out = -fit_->c_.transpose() * weighted(v); }

  private:
    [[nodiscard]] Vec residuals() const { return fit_->a_ * y() - fit_->c_ * x() - fit_->t_; }
    [[nodiscard]] Vec weighted(const Vec &v) const {
      return residuals().array().cosh().square().inverse() * (fit_->a_ * v).array();
    }
    [[nodiscard]] static double log_cosh(double r) { return r + std::log1p(std::exp(-2.0 * r)); }
    const SaturatingFit *fit_;
  };

  class Upper : public Point<Vec> {
  public:
    explicit Upper(const SaturatingFit &fit) : fit_(&fit) {}
    [[nodiscard]] double value() const { return 0.5 * missed().squaredNorm() + 0.05 * x().squaredNorm(); }
    void grad_x(Vec &out) const { out = 0.1 * x(); }
    void grad_y(Vec &out) const { out = fit_->b_.transpose() * missed(); }
    void hess_yy(const Vec &v, Vec &out) const { out = fit_->b_.transpose() * Vec(fit_->b_ * v); }
    void cross_xy(const Vec & /*v*/, Vec &out) const { out.setZero(); }

  private:
    [[nodiscard]] Vec missed() const { return (fit_->b_ * y()).array() - 1.0; }
    const SaturatingFit *fit_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] static Index x_size() { return 2; }
  [[nodiscard]] Index y_size() const { return a_.cols(); }
  /// With y so far from zero.
  [[nodiscard]] State<Vec> start(double distance) const {
    return {Vec::Zero(2), distance * random_vector(y_size(), 9), {}};
  }

  /// ‖∇φ(x)‖ by Newton's method with a line search on half of the columns, where they come twice.
  [[nodiscard]] double slope_at(const Vec &x) const {
    const Index columns = b_.rows();
    const Mat a = a_.leftCols(columns);
    Vec y = Vec::Zero(columns);
    Mat hessian;
    Vec residuals;
    for (int n = 0; n < 100; ++n) {
      residuals = a * y - c_ * x - t_;
      hessian = a.transpose() * residuals.array().cosh().square().inverse().matrix().asDiagonal() * a;
      const Vec gradient = a.transpose() * Vec(residuals.array().tanh());
      const Vec step = hessian.ldlt().solve(gradient);
      double t = 1.0;
      while ((a.transpose() * Vec((residuals - t * a * step).array().tanh())).norm() > gradient.norm() && t > 1e-10) {
        t *= 0.5;
      }
      y -= t * step;
    }
    const Vec multiplier = hessian.ldlt().solve(Vec(y.array() - 1.0));
    return (0.1 * x + c_.transpose() * Vec(residuals.array().cosh().square().inverse() * (a * multiplier).array()))
        .norm();
  }

private:
  [[nodiscard]] static Mat matrix(Index rows, Index columns, std::uint64_t seed) {
    return random_vector(rows * columns, seed).reshaped(rows, columns);
  }

  Mat a_;
  Mat c_;
  Vec t_;
  Mat b_;
};

} // namespace duplex::testing
