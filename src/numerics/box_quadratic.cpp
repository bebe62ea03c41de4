#include <duplex/numerics/box_quadratic.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
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

  /// Moves the entries that are at no bound to where the model is smallest in them, as far as the box lets. False where
  /// they are at rest.
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
    const Matrix<double> part = h_(free, free);
    const Vector<double> slope = slope_(free);
    const Vector<double> units = units_of(part);
    const Matrix<double> scaled = units.asDiagonal() * part * units.asDiagonal();
    const Eigen::LLT<Matrix<double>> factors(scaled);
    const bool is_definite =
        factors.info() == Eigen::Success &&
        factors.matrixLLT().diagonal().minCoeff() > std::sqrt(accuracy) * factors.matrixLLT().diagonal().maxCoeff();
    if (is_definite) {
      const Vector<double> along = -units.cwiseProduct(factors.solve(units.cwiseProduct(slope)));
      const double rise = slope.dot(along);
      return rise < 0.0 && along.allFinite() && !ends_inside(free, along, 1.0, -rise);
    }
    return follow_curvature(free, part, units, accuracy);
  }

private:
  static constexpr double at_rest = 1e-12;

  /// D^-½, with one for entries without curvature.
  [[nodiscard]] static Vector<double> units_of(const Matrix<double> &part) {
    return part.diagonal().unaryExpr([](double d) { return d != 0.0 ? 1.0 / std::sqrt(std::abs(d)) : 1.0; });
  }

  /// Conjugate gradients on a model that is not positive definite, until they leave the box or meet a direction that
  /// bends down, which they follow to the bounds (after Steihaug, 1983). False where they have ended inside.
  [[nodiscard]] bool follow_curvature(const std::vector<Eigen::Index> &free, const Matrix<double> &part,
                                      const Vector<double> &units, double accuracy) {
    const auto most_steps = 2 * part.rows();
    const Vector<double> first = slope_(free);
    Vector<double> residual = -units.cwiseProduct(first); // in units in which the diagonal is ±1
    Vector<double> direction = residual;
    double square = residual.squaredNorm();
    const double enough = at_rest * square;
    for (Eigen::Index n = 0; n < most_steps && square > enough; ++n) {
      const Vector<double> along = units.cwiseProduct(direction);
      const Vector<double> image = units.cwiseProduct(part * along);
      const double curvature = direction.dot(image);
      if (!std::isfinite(curvature)) {
        return false;
      }
      const double least = accuracy * direction.squaredNorm(); // what is less, up or down, is none that is known
      const double best =
          curvature < -least ? std::numeric_limits<double>::infinity() : square / std::max(curvature, least);
      if (!ends_inside(free, along, best, 0.0)) {
        return true;
      }
      residual -= best * image;
      const double before = std::exchange(square, residual.squaredNorm());
      direction = (residual + square / before * direction).eval();
    }
    return false;
  }

  /// Moves by t·along, with t as large as the box lets and at most `best`. Whether it ended there and not at a bound,
  /// and lowered the model by no more than rounding where `fall`, what t = 1 lowers it by twice, is given.
  bool ends_inside(const std::vector<Eigen::Index> &free, const Vector<double> &along, double best, double fall) {
    const double t = std::min(best, room(free, along));
    for (std::size_t i = 0; i < free.size() && t > 0.0; ++i) {
      const Eigen::Index j = free[i];
      move(j, std::clamp(p_[j] + t * along[static_cast<Eigen::Index>(i)], lower_[j], upper_[j]) - p_[j]);
    }
    return t >= best && !(fall * t > at_rest * std::abs(slope_.dot(p_)));
  }

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
