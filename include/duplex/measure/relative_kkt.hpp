#pragma once
// The KKT residual beside the scale of its blocks, which is that of the start: what a run meets on its way, and be it
// that it overshoots, changes nothing. It is the same in any units of F, f, x and y.
//
//   ‖∇xF − ∇²xy f·v‖   over ‖∇φ(x₀)‖
//   ‖∇yF − ∇²yy f·v‖   over ‖∇yF(x₀, y*(x₀))‖
//   ‖∇y f‖             over the larger of ‖∇y f(x₀, y₀)‖ and ‖∇²yy f·(y − y₀)‖, what the way of y has changed in it
//
// A tolerance on the largest of them is met where ‖∇φ(x)‖ itself, too, is verified to be that small beside ‖∇φ(x₀)‖:
// small blocks alone leave the condition of the lower level in it. Where there is no ∇φ because the lower level has
// many minimizers, the blocks alone decide, beside their terms at the start; where it could not be had for another
// reason, the tolerance is not met.

#include <duplex/measure/residual.hpp>
#include <duplex/measure/verification.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace duplex {

template <VectorSpace V> class RelativeKkt {
public:
  RelativeKkt(const ProblemView<V> &problem, const State<V> &start)
      : residual_(problem), verification_(problem, start), start_{start}, way_(zeros_like(start.y)) {}

  /// The largest of the three.
  [[nodiscard]] double at(const State<V> &state) {
    measure_scales();
    const KktBlocks blocks = residual_.at(state.x, state.y, state.v);
    const KktBlocks &terms = residual_.terms();
    assign(state.y, way_);
    axpy(-1.0, start_.y, way_);
    const double way = residual_.curvature_along(way_);
    const auto over = [](double block, double scale, double terms_now) {
      return block == 0.0 ? 0.0 : block / (scale > 0.0 ? scale : terms_now);
    };
    return std::max({over(blocks.stationarity, scales_.stationarity, terms.stationarity),
                     over(blocks.multiplier, scales_.multiplier, terms.multiplier),
                     over(blocks.feasibility, std::max(scales_.feasibility, way), terms.feasibility)});
  }

  /// Whether a tolerance is met at a state of that value. Verifies only where the value has halved since that was in
  /// vain; what is looked at without `learning` changes nothing for later.
  [[nodiscard]] bool is_met(const State<V> &state, double value, double tolerance, bool learning) {
    if (!(value <= tolerance)) {
      return false;
    }
    if (const auto &first = verification_.first(); !first.known()) {
      return first.is_singular;
    }
    if (!(value <= verifies_below_)) {
      return false;
    }
    const Verdict &verdict = verification_.verify(state, tolerance);
    const bool met = verdict.holds() || verdict.slope.is_singular;
    if (learning && !met) {
      verifies_below_ = 0.5 * value;
    }
    return met;
  }

  template <class Archive> void archive(Archive &members) {
    members("start", start_);
    members("verification", verification_);
    members("knows scales", knows_scales_);
    members("scales", scales_);
    members("verifies below", verifies_below_);
  }

private:
  void measure_scales() {
    if (knows_scales_) {
      return;
    }
    knows_scales_ = true;
    scales_ = residual_.at(start_.x, start_.y, start_.v);
    const KktBlocks raw = residual_.terms();
    if (const auto &first = verification_.first(); first.known()) {
      const auto &truth = verification_.meter();
      (void)residual_.at(start_.x, truth.y(), truth.v());
      scales_.stationarity = first.norm > first.error ? first.norm : residual_.terms().stationarity;
      scales_.multiplier = residual_.terms().multiplier;
    } else {
      scales_.stationarity = raw.stationarity;
      scales_.multiplier = raw.multiplier;
    }
  }

  KktResidual<ProblemView<V>> residual_;
  Verification<V> verification_;
  State<V> start_;
  V way_;
  bool knows_scales_ = false;
  KktBlocks scales_;
  double verifies_below_ = std::numeric_limits<double>::infinity();
};

} // namespace duplex
