#pragma once
// A run that drifts apart while its numbers are still finite. The Lyapunov value of Theorem 3.3,
// φ(x) + a‖y − y*‖² + b‖v − v*‖², falls where steps are short enough. What of it a run can measure is ‖∇L‖, whose
// blocks bound the two distances, F at its own y, and L = F − vᵀ∇y f, which is φ(x) to second order in the distances.
// Where a run diverges ‖∇L‖ and F rise. They may do so as well where it leaves a saddle, but there L falls, and no step
// is too long; where y or v diverges a step is, and where x does L rises.

#include <duplex/measure/residual.hpp>
#include <duplex/problem/problem_view.hpp>

#include <algorithm>
#include <cstdint>

namespace duplex::detail {

/// How far a run has drifted apart.
struct Drift {
  std::int64_t from = 0;        ///< the step at which ‖∇L‖ was smallest
  std::int64_t to = 0;          ///< the step of the last measurement
  double before = 0.0;          ///< ‖∇L‖ at `from`
  double after = 0.0;           ///< ‖∇L‖ at `to`
  bool lagrangian_rose = false; ///< whether L rose at each of the last two measurements
};

/// Measures whether a run drifts apart, ever more rarely, after half as many steps again: some twenty times in 10⁵
/// steps.
template <VectorSpace V> class DriftWatch {
public:
  DriftWatch(const ProblemView<V> &problem, std::int64_t after_step)
      : residual_(problem), began_(after_step), next_(after_step + first_look) {}

  [[nodiscard]] bool due(std::int64_t step) const { return step >= next_; }

  /// Measures at this step. True where ‖∇L‖ has grown at two measurements in a row, far beyond its smallest, and F too.
  [[nodiscard]] bool sees_growth(std::int64_t step, const State<V> &state) {
    constexpr double much = 2.0;
    constexpr double far = 1e3;
    constexpr int in_a_row = 2;
    next_ = step + std::max(first_look, (step - began_) / 2);
    const double residual = residual_.at(state.x, state.y, state.v).residual();
    const double upper = residual_.upper_value();
    const double lagrangian = upper - residual_.multiplied_gradient(state.v);
    const bool grows = looked_ && residual > much * drift_.after && upper >= upper_;
    growths_ = grows ? growths_ + 1 : 0;
    rises_ = looked_ && lagrangian > lagrangian_ ? rises_ + 1 : 0;
    if (!looked_ || residual < drift_.before) {
      drift_.from = step;
      drift_.before = residual;
    }
    drift_.to = step;
    drift_.after = residual;
    drift_.lagrangian_rose = rises_ >= in_a_row;
    upper_ = upper;
    lagrangian_ = lagrangian;
    looked_ = true;
    return growths_ >= in_a_row && residual > far * drift_.before;
  }

  /// The growth from where ‖∇L‖ was smallest to the last measurement.
  [[nodiscard]] const Drift &drift() const { return drift_; }

  template <class Archive> void archive(Archive &members) {
    members("began", began_);
    members("next", next_);
    members("looked", looked_);
    members("growths", growths_);
    members("rises", rises_);
    members("upper", upper_);
    members("lagrangian", lagrangian_);
    members("smallest at", drift_.from);
    members("smallest", drift_.before);
    members("last", drift_.after);
  }

private:
  static constexpr std::int64_t first_look = 16;

  KktResidual<ProblemView<V>> residual_;
  std::int64_t began_;
  std::int64_t next_;
  bool looked_ = false;
  int growths_ = 0; ///< in a row
  int rises_ = 0;   ///< in a row, of L
  double upper_ = 0.0;
  double lagrangian_ = 0.0;
  Drift drift_;
};

} // namespace duplex::detail
