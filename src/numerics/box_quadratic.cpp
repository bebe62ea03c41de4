#include <duplex/numerics/box_quadratic.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace duplex::dense {

namespace {

class BoxQuadratic {
public:
  BoxQuadratic(const Matrix<double> &h, const Vector<double> &g, const Vector<double> &lower,
               const Vector<double> &upper)
      : h_(h), lower_(lower), upper_(upper), p_(Vector<double>::Zero(g.size())), slope_(g) {}

  [[nodiscard]] const Vector<double> &p() const { return p_; }

  /// Moves each entry in turn to where the model is smallest along it.
  void sweep() {
    for (Eigen::Index j = 0; j < p_.size(); ++j) {
      const double curvature = h_(j, j);
      double wanted = p_[j];
      if (curvature > 0.0) {
        wanted -= slope_[j] / curvature;
      } else if (slope_[j] != 0.0) {
        wanted = slope_[j] > 0.0 ? lower_[j] : upper_[j];
      }
      move(j, std::clamp(wanted, lower_[j], upper_[j]) - p_[j]);
    }
  }

  /// One step of Newton's method in the entries that may move. False where they are at rest.
  [[nodiscard]] bool step(double accuracy) {
    std::vector<Eigen::Index> free;
    for (Eigen::Index j = 0; j < p_.size(); ++j) {
      const bool at_bound = p_[j] <= lower_[j] || p_[j] >= upper_[j]; // which sweeps let go
      if (!at_bound && slope_[j] != 0.0) {
        free.push_back(j);
      }
    }
    if (free.empty()) {
      return false;
    }
    const Vector<double> slope = slope_(free);
    const Matrix<double> part = h_(free, free);
    Vector<double> along;
    ScaledInverse<double>(part, accuracy).apply(slope, along);
    along = -along;
    const double rise = slope.dot(along);
    if (!(rise < 0.0) || !along.allFinite()) {
      return false;
    }
    const double curvature = along.dot(part * along);
    const double farthest = room(free, along);
    const double best = curvature > 0.0 ? -rise / curvature : std::numeric_limits<double>::infinity();
    const double t = std::min(best, farthest);
    for (std::size_t i = 0; i < free.size(); ++i) {
      const Eigen::Index j = free[i];
      move(j, std::clamp(p_[j] + t * along[static_cast<Eigen::Index>(i)], lower_[j], upper_[j]) - p_[j]);
    }
    return t < best || -rise * t > at_rest * std::abs(slope_.dot(p_));
  }

private:
  static constexpr double at_rest = 1e-12;

  void move(Eigen::Index j, double by) {
    if (by != 0.0) {
      p_[j] += by;
      slope_ += by * h_.col(j);
    }
  }

  /// The largest t for which p + t·along is in the box.
  [[nodiscard]] double room(const std::vector<Eigen::Index> &free, const Vector<double> &along) const {
    double t = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < free.size(); ++i) {
      const double speed = along[static_cast<Eigen::Index>(i)];
      if (speed != 0.0) {
        t = std::min(t, ((speed > 0.0 ? upper_ : lower_)[free[i]] - p_[free[i]]) / speed);
      }
    }
    return std::max(0.0, t);
  }

  const Matrix<double> &h_;
  const Vector<double> &lower_;
  const Vector<double> &upper_;
  Vector<double> p_;
  Vector<double> slope_; ///< g + Hp
};

} // namespace

Vector<double> minimize_in_box(const Matrix<double> &h, const Vector<double> &g, const Vector<double> &lower,
                               const Vector<double> &upper, double accuracy) {
  constexpr int most_rounds = 30;
  constexpr int sweeps = 3;
  BoxQuadratic model(h, g, lower, upper);
  for (int round = 0; round < most_rounds; ++round) {
    for (int i = 0; i < sweeps; ++i) {
      model.sweep();
    }
    if (!model.step(accuracy)) {
      break;
    }
  }
  return model.p();
}

} // namespace duplex::dense
