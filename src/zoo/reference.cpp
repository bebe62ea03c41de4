#include "zoo/reference.hpp"

#include "zoo/spectrum.hpp"
#include "zoo/stand_in.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::zoo {

namespace {

using Real = long double;
using RealVector = VectorOver<Real>;
using RealMatrix = MatrixOver<Real>;

/// Of a symmetric matrix that is singular: its null space, and products with its pseudo-inverse.
class Degenerate {
public:
  explicit Degenerate(const RealMatrix &matrix) : spectrum_(spectrum_of<Real>(matrix)) {
    constexpr Real share = 1e-12L; // eigenvalues of these families are zero to rounding, or above 10⁻⁸ of the largest
    const RealVector &values = spectrum_.values;
    const Real threshold = share * values.cwiseAbs().maxCoeff();
    while (nullity_ < values.size() && values[nullity_] <= threshold) {
      ++nullity_;
    }
    is_semidefinite_ = values[0] >= -threshold;
  }
  [[nodiscard]] bool is_semidefinite() const { return is_semidefinite_; }
  [[nodiscard]] RealMatrix null_space() const { return spectrum_.vectors.leftCols(nullity_); }
  [[nodiscard]] RealVector solve(const RealVector &right) const {
    const Index rank = right.size() - nullity_;
    const auto range = spectrum_.vectors.rightCols(rank);
    return range * (range.transpose() * right).cwiseQuotient(spectrum_.values.tail(rank));
  }

private:
  Spectrum<Real> spectrum_;
  Index nullity_ = 0;
  bool is_semidefinite_ = false;
};

} // namespace

Reference::Reference(const Family &family)
    : model_(family.truth()), is_singular_(family.facts().is_singular), newton_(*model_) {}

bool Reference::respond_uniquely(const RealVector &x, Truth &truth, RealVector &v) {
  if (!newton_.minimize(x, truth.y) || !newton_.factorize()) {
    truth.why = "the lower level has no minimizer that Newton's method finds";
    return false;
  }
  if (!newton_.was_positive()) {
    truth.why = "the lower level is not at a minimizer";
    return false;
  }
  RealVector slope(truth.y.size());
  model_->upper_grad_y(slope);
  newton_.solve(slope, v);
  return true;
}

/// Newton's method with the pseudo-inverse, which leaves y's part in the null space where it is.
bool Reference::descend_in_range(const RealVector &x, RealVector &y) {
  constexpr int most_steps = 100;
  RealMatrix hessian;
  RealVector slope(y.size());
  for (int i = 0; i < most_steps; ++i) {
    model_->at(x, y);
    const Real value = model_->lower_value();
    model_->lower_hessian(hessian);
    model_->lower_grad_y(slope);
    const RealVector step = Degenerate(hessian).solve(slope);
    if (step.norm() <= 1e-12L * (1.0L + y.norm())) {
      y -= step;
      return true;
    }
    Real length = 1.0L;
    RealVector trial = y - step;
    model_->at(x, trial);
    while (!(model_->lower_value() <= value * (1.0L + 1e-16L)) && length > 1e-12L) {
      length *= 0.5L;
      trial = y - length * step;
      model_->at(x, trial);
    }
    y = trial;
  }
  return false;
}

bool Reference::respond_best(const RealVector &x, Truth &truth, RealVector &v) {
  RealMatrix hessian;
  RealVector slope(truth.y.size());
  RealVector image(truth.y.size());
  constexpr int rounds = 3; // one is enough where both levels are quadratic; the others take rounding back
  for (int round = 0; round < rounds; ++round) {
    if (!descend_in_range(x, truth.y)) {
      truth.why = "the lower level has no minimizer that Newton's method finds";
      return false;
    }
    model_->at(x, truth.y);
    model_->lower_hessian(hessian);
    const Degenerate degenerate(hessian);
    if (!degenerate.is_semidefinite()) {
      truth.why = "the lower level is not at a minimizer";
      return false;
    }
    const RealMatrix null_space = degenerate.null_space();
    RealMatrix bending(truth.y.size(), null_space.cols());
    for (Index j = 0; j < null_space.cols(); ++j) {
      model_->upper_hess_yy(null_space.col(j), image);
      bending.col(j) = image;
    }
    model_->upper_grad_y(slope);
    const RealMatrix reduced = null_space.transpose() * bending;
    // Where F does not bend within the null space it must not fall there either, and y may be any of the minimizers.
    const Real size = null_space.cols() > 0 ? reduced.cwiseAbs().maxCoeff() : 0.0L;
    if (size > 1e-12L * hessian.cwiseAbs().maxCoeff()) {
      truth.y -= null_space * Eigen::LLT<RealMatrix>(reduced).solve(null_space.transpose() * slope);
      model_->at(x, truth.y);
      model_->upper_grad_y(slope);
    }
    v = degenerate.solve(slope);
  }
  return true;
}

Truth Reference::at(const RealVector &x, const RealVector &y_guess) {
  Truth truth;
  const RealVector lower = model_->lower_bound();
  const RealVector upper = model_->upper_bound();
  if (x.size() != model_->x_size() || !x.allFinite()) {
    truth.why = "x is not finite, or of another size";
    return truth;
  }
  const auto slack = [](Real bound) {
    return std::isfinite(bound) ? Real(bound_tolerance) * (1 + std::abs(bound)) : 0;
  };
  for (Index i = 0; i < x.size(); ++i) {
    if (x[i] < lower[i] - slack(lower[i]) || x[i] > upper[i] + slack(upper[i])) {
      truth.why = "x is out of its bounds";
      return truth;
    }
  }
  truth.y = y_guess;
  RealVector v(y_guess.size());
  truth.is_known = is_singular_ ? respond_best(x, truth, v) : respond_uniquely(x, truth, v);
  if (!truth.is_known) {
    return truth;
  }
  RealVector cross(x.size());
  truth.gradient.resize(x.size());
  model_->upper_grad_x(truth.gradient);
  model_->lower_cross_xy(v, cross);
  truth.gradient -= cross;
  truth.value = model_->upper_value();
  truth.slope = projected<Real>(truth.gradient, x, lower, upper).norm();
  return truth;
}

Truth Reference::at_start(int k) {
  const auto start = model_->start(k);
  return at(start.x, start.y);
}

double relative_slope(const Truth &at_start, const Truth &there) {
  if (!at_start.is_known || !there.is_known || !(at_start.slope > 0.0L)) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(there.slope / at_start.slope);
}

} // namespace duplex::zoo
