#pragma once
// A run that drifts apart while its numbers are still finite. The Lyapunov value of Theorem 3.3,
// φ(x) + a‖y − y*‖² + b‖v − v*‖², falls where steps are short enough; what of it a run can measure is F at its own y
// and the blocks of ∇L, which bound the two distances. Both rise where a run diverges; where a run leaves a saddle the
// blocks rise and F falls.

#include <duplex/residual.hpp>

#include <algorithm>
#include <cstdint>

namespace duplex::detail {

struct Drift {
  std::int64_t from = 0; ///< steps
  std::int64_t to = 0;
  KktBlocks before;
  KktBlocks after;
};

/// Looks ever more rarely, after half as many steps again: a step's products some twenty times in 10⁵ steps.
template <SecondOrderProblem P> class DriftWatch {
public:
  using V = VectorOf<P>;

  DriftWatch(const P &problem, std::int64_t after_step) : residual_(problem), next_(after_step + first_look) {}

  /// Whether the run has drifted: the residual has grown at two looks in a row, far beyond its smallest, and F too.
  [[nodiscard]] bool sees_drift(std::int64_t step, const State<V> &state) {
    constexpr double much = 2.0;
    constexpr double far = 1e3;
    constexpr int in_a_row = 2;
    if (step < next_) {
      return false;
    }
    next_ = step + std::max(first_look, step / 2);
    const KktBlocks blocks = residual_.at(state.x, state.y, state.v);
    const double upper = residual_.upper_value();
    const bool grows = looked_ && blocks.residual() > much * last_residual_ && upper >= last_upper_;
    growths_ = grows ? growths_ + 1 : 0;
    last_residual_ = blocks.residual();
    last_upper_ = upper;
    if (!looked_ || blocks.residual() < drift_.before.residual()) {
      drift_ = {.from = step, .to = step, .before = blocks, .after = blocks};
    }
    looked_ = true;
    drift_.to = step;
    drift_.after = blocks;
    return growths_ >= in_a_row && blocks.residual() > far * drift_.before.residual();
  }

  /// From where the residual was smallest to the last look.
  [[nodiscard]] const Drift &drift() const { return drift_; }

  template <class Archive> void archive(Archive &members) {
    members("next", next_);
    members("growths", growths_);
    members("looked", looked_);
    members("residual", last_residual_);
    members("upper", last_upper_);
    members("smallest at", drift_.from);
    members("stationarity", drift_.before.stationarity);
    members("multiplier", drift_.before.multiplier);
    members("feasibility", drift_.before.feasibility);
  }

private:
  static constexpr std::int64_t first_look = 16;

  KktResidual<P> residual_;
  std::int64_t next_;
  int growths_ = 0; ///< in a row
  bool looked_ = false;
  double last_residual_ = 0.0;
  double last_upper_ = 0.0;
  Drift drift_;
};

} // namespace duplex::detail
