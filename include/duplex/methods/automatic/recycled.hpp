#pragma once
// Directions p_i with their images Hp_i that earlier solves have paid for. They serve the next ones twice:
//
// - as limited-memory BFGS pairs they precondition (Morales and Nocedal, SIAM J. Optim. 10, 2000), positive definite
//   whatever H has become since;
// - where H has not changed, the part of a residual in their span is solved without a product.
//
// When the memory is full, the direction of the largest curvature pᵀHp/pᵀp goes: conjugate gradients are quick there.
// Memory: 2m vectors here and up to 2m for the directions of a solve that is going on.

#include <duplex/numerics/secant_pairs.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace duplex::automatic {

template <VectorSpace V> class RecycledDirections {
public:
  RecycledDirections(std::size_t most, const V &like) : most_(most), like_(zeros_like(like)) {}

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  void forget() { kept_.clear(); }

  /// solution += P a, residual −= HP a, so that the residual vanishes on the span. Twice, against rounding.
  void project(V &residual, V &solution) const {
    for (int pass = 0; pass < 2; ++pass) {
      for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
        const double weight = dot(kept->step, residual) / kept->product;
        axpy(-weight, kept->change, residual);
        axpy(weight, kept->step, solution);
      }
    }
  }

  /// out = M residual, with M the inverse Hessian of limited-memory BFGS.
  void precondition(const V &residual, V &out) {
    assign(residual, out);
    apply_secant_pairs(
        kept_, [this](V &vector) { scale(inverse_curvature_, vector); }, weights_, out);
  }

  /// A direction of the solve that is going on; it serves from the next solve on.
  void stage(const V &p, const V &image, double curvature, double quotient) {
    quotients_.push_back(quotient);
    if (most_ == 0) {
      return;
    }
    auto &slot = free_slot(staged_);
    assign(p, slot.step);
    assign(image, slot.change);
    slot.product = curvature;
    slot.quotient = quotient;
  }

  /// The solve is over.
  void commit() {
    for (auto &fresh : staged_) {
      std::swap(free_slot(kept_), fresh);
    }
    staged_.clear();
    if (!quotients_.empty()) { // the typical curvature of what is not kept yet
      const auto middle = quotients_.begin() + static_cast<std::ptrdiff_t>(quotients_.size() / 2);
      std::nth_element(quotients_.begin(), middle, quotients_.end());
      inverse_curvature_ = 1.0 / *middle;
      quotients_.clear();
    }
  }

  /// How much H has changed, from the symmetry of pᵀHq between a new direction and a kept one: zero where it has not.
  [[nodiscard]] double staleness(const V &p, const V &image, double curvature) {
    if (kept_.empty()) {
      return 0.0;
    }
    probed_ = (probed_ + 1) % kept_.size();
    const auto &kept = kept_[probed_];
    return std::abs(dot(kept.change, p) - dot(kept.step, image)) / std::sqrt(kept.product * curvature);
  }

  /// Between solves, when nothing is staged.
  template <class Archive> void archive(Archive &members) {
    members.resized("kept", kept_, most_, [this] { return blank(); });
    members("inverse curvature", inverse_curvature_);
    members("probed", probed_);
  }

private:
  /// The step p with its change Hp and their product pᵀHp.
  struct Direction : SecantPair<V> {
    double quotient = 0.0; ///< pᵀHp / pᵀp

    template <class Archive> void archive(Archive &members) {
      SecantPair<V>::archive(members);
      members("quotient", quotient);
    }
  };
  [[nodiscard]] Direction blank() const { return {{zeros_like(like_), zeros_like(like_), 0.0}, 0.0}; }

  /// The last slot: a new one, or where there is no room that of the largest curvature, the others keeping their order.
  [[nodiscard]] Direction &free_slot(std::vector<Direction> &directions) const {
    if (directions.size() < most_) {
      directions.push_back(blank());
    } else {
      const auto stiffest =
          std::max_element(directions.begin(), directions.end(),
                           [](const Direction &a, const Direction &b) { return a.quotient < b.quotient; });
      std::rotate(stiffest, stiffest + 1, directions.end());
    }
    return directions.back();
  }

  std::size_t most_;
  V like_;
  std::vector<Direction> kept_;
  std::vector<Direction> staged_;
  std::vector<double> quotients_;
  std::vector<double> weights_;
  double inverse_curvature_ = 1.0;
  std::size_t probed_ = 0;
};

} // namespace duplex::automatic
