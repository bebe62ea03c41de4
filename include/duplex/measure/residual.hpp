#pragma once
// The KKT conditions of min F(x, y) s.t. ∇y f(x, y) = 0, with
// L(x, y, v) = F(x, y) − vᵀ∇y f(x, y). Where x has bounds, ∇xL counts by its free part (box.hpp).

#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <cmath>

namespace duplex {

/// Norms of the three blocks of ∇L.
struct KktBlocks {
  double stationarity = 0.0; ///< ‖∇xF − ∇²xy f·v‖, of its free part
  double multiplier = 0.0;   ///< ‖∇yF − ∇²yy f·v‖
  double feasibility = 0.0;  ///< ‖∇y f‖

  /// The paper's KKT(x, y, v) = ‖∇L‖².
  [[nodiscard]] double squared() const {
    return stationarity * stationarity + multiplier * multiplier + feasibility * feasibility;
  }
  [[nodiscard]] double residual() const { return std::sqrt(squared()); }

  template <class Archive> void archive(Archive &members) {
    members("stationarity", stationarity);
    members("multiplier", multiplier);
    members("feasibility", feasibility);
  }
};

/// Measures the KKT blocks of a problem, again and again, without allocating.
template <SecondOrderProblem P> class KktResidual {
public:
  using V = VectorOf<P>;

  explicit KktResidual(const P &problem) : lower_(problem.lower()), upper_(problem.upper()), box_(box_of(problem)) {}

  [[nodiscard]] KktBlocks at(const V &x, const V &y, const V &v) {
    lower_.at(x, y);
    upper_.at(x, y);
    if (size(x_block_) != size(x) || size(y_block_) != size(y)) { // results go into vectors of the right size
      x_block_ = x_product_ = zeros_like(x);
      y_block_ = y_product_ = zeros_like(y);
    }
    KktBlocks blocks;
    upper_.grad_x(x_block_);
    lower_.cross_xy(v, x_product_);
    terms_.stationarity = std::max(norm(x_block_), norm(x_product_));
    axpy(-1.0, x_product_, x_block_);
    box_.keep_free(x, x_block_);
    blocks.stationarity = norm(x_block_);
    upper_.grad_y(y_block_);
    lower_.hess_yy(v, y_product_);
    terms_.multiplier = std::max(norm(y_block_), norm(y_product_));
    axpy(-1.0, y_product_, y_block_);
    blocks.multiplier = norm(y_block_);
    lower_.grad_y(y_block_);
    terms_.feasibility = blocks.feasibility = norm(y_block_);
    return blocks;
  }

  /// The larger of the two terms of each block at the last point: what would be left if they did not cancel.
  [[nodiscard]] const KktBlocks &terms() const { return terms_; }
  /// F at the last point.
  [[nodiscard]] double upper_value() { return upper_.value(); }
  /// vᵀ∇y f at the last point.
  [[nodiscard]] double multiplied_gradient(const V &v) { return dot(v, y_block_); }
  /// ‖∇²yy f·direction‖ at the last point.
  [[nodiscard]] double curvature_along(const V &direction) {
    lower_.hess_yy(direction, y_product_);
    return norm(y_product_);
  }

private:
  LowerOf<P> lower_;
  UpperOf<P> upper_;
  Box<V> box_;
  KktBlocks terms_;
  V x_block_;
  V x_product_;
  V y_block_;
  V y_product_;
};

} // namespace duplex
