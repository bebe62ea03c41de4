#pragma once
// The KKT conditions of min F(x, y) s.t. ∇y f(x, y) = 0, with
// L(x, y, v) = F(x, y) − vᵀ∇y f(x, y).

#include <duplex/problem.hpp>

#include <algorithm>
#include <cmath>

namespace duplex {

/// Norms of the three blocks of ∇L.
struct KktBlocks {
  double stationarity = 0.0; ///< ‖∇xF − ∇²xy f·v‖
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

  explicit KktResidual(const P &problem) : lower_(problem.lower()), upper_(problem.upper()) {}

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
  KktBlocks terms_;
  V x_block_;
  V x_product_;
  V y_block_;
  V y_product_;
};

/// The largest block of ∇L, each over the largest that its terms have been since the run began or last recovered: the
/// same in any units of F, f, x and y. The terms of ∇y f are itself and ∇²yy f·(y − y₀), what the way of y has changed
/// in it.
template <SecondOrderProblem P> class RelativeKkt {
public:
  using V = VectorOf<P>;

  RelativeKkt(const P &problem, const State<V> &start)
      : residual_(problem), start_y_(zeros_like(start.y)), way_(zeros_like(start.y)) {
    assign(start.y, start_y_);
    (void)at(start);
    start_scales_ = scales_;
  }

  [[nodiscard]] double at(const State<V> &state) {
    const KktBlocks blocks = residual_.at(state.x, state.y, state.v);
    const KktBlocks &terms = residual_.terms();
    assign(state.y, way_);
    axpy(-1.0, start_y_, way_);
    scales_.stationarity = std::max(scales_.stationarity, terms.stationarity);
    scales_.multiplier = std::max(scales_.multiplier, terms.multiplier);
    scales_.feasibility = std::max({scales_.feasibility, terms.feasibility, residual_.curvature_along(way_)});
    const auto over = [](double block, double scale) { return block == 0.0 ? 0.0 : block / scale; };
    return std::max({over(blocks.stationarity, scales_.stationarity), over(blocks.multiplier, scales_.multiplier),
                     over(blocks.feasibility, scales_.feasibility)});
  }

  /// The same without learning from it.
  [[nodiscard]] double seen_at(const State<V> &state) {
    const KktBlocks before = scales_;
    const double value = at(state);
    scales_ = before;
    return value;
  }

  /// What a run has met that broke is not its scale.
  void start_anew(const State<V> &state) {
    scales_ = start_scales_;
    (void)at(state);
  }

  template <class Archive> void archive(Archive &members) {
    members("start y", start_y_);
    members("scales", scales_);
    members("start scales", start_scales_);
  }

private:
  KktResidual<P> residual_;
  KktBlocks scales_;
  KktBlocks start_scales_;
  V start_y_;
  V way_;
};

} // namespace duplex
