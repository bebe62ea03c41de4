#include "zoo/newton.hpp"

#include "zoo/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace duplex::zoo {

/// Pivots of Cholesky's method are what is left of the diagonal: where that is rounding, H is singular. Beside its own
/// diagonal, so that no units matter.
template <class T> bool Newton<T>::pivots_are_positive() const {
  if (factor_.info() != Eigen::Success) {
    return false;
  }
  const auto pivots = factor_.matrixLLT().diagonal().array().square();
  const T rounding = T(10) * static_cast<T>(hessian_.rows()) * Eigen::NumTraits<T>::epsilon();
  return (pivots > rounding * hessian_.diagonal().array()).all();
}

template <class T> bool Newton<T>::factorize() {
  model_->lower_hessian(hessian_);
  if (!hessian_.allFinite()) {
    return false;
  }
  factor_.compute(hessian_);
  was_positive_ = pivots_are_positive();
  if (was_positive_) {
    return true;
  }
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
  const auto spectrum = spectrum_of<Wide>(hessian_.template cast<Wide>());
  const Vector sizes = spectrum.values.cwiseAbs().template cast<T>();
  const T smallest = std::max(T(1e-10), T(100) * Eigen::NumTraits<T>::epsilon()) * sizes.maxCoeff();
  const Matrix basis = spectrum.vectors.template cast<T>();
  factor_.compute(basis * sizes.cwiseMax(smallest).asDiagonal() * basis.transpose());
  return factor_.info() == Eigen::Success;
}

template <class T> bool Newton<T>::descend(const Vector &x, Vector &y, T value, T slope) {
  constexpr int most_halvings = 60;
  const T rounding = T(10) * Eigen::NumTraits<T>::epsilon() * std::abs(value);
  T length = T(1);
  for (int i = 0; i < most_halvings; ++i) {
    trial_ = y + length * step_;
    model_->at(x, trial_);
    const T reached = model_->lower_value();
    if (std::isfinite(reached) && reached <= value + T(1e-4) * length * slope + rounding) {
      y = trial_;
      return true;
    }
    length *= T(0.5);
  }
  return false;
}

/// Steps are measured by √(pᵀHp) beside √(yᵀHy), which no units change. Where that is small, f is rounding and the step
/// is taken whole; where it is tiny, or no longer falls, one more step would change nothing.
template <class T> bool Newton<T>::minimize(const Vector &x, Vector &y) {
  constexpr int most_steps = 500;
  const T tiny = std::max(T(1e-10), T(10) * Eigen::NumTraits<T>::epsilon());
  const T small = std::max(T(1e-6), T(100) * Eigen::NumTraits<T>::epsilon());
  T previous = std::numeric_limits<T>::infinity();
  for (int i = 0; i < most_steps; ++i) {
    model_->at(x, y);
    const T value = model_->lower_value();
    model_->lower_grad_y(gradient_);
    if (!std::isfinite(value) || !gradient_.allFinite() || !factorize()) {
      return false;
    }
    step_ = -factor_.solve(gradient_);
    const T slope = gradient_.dot(step_);
    const T size = std::sqrt(std::max(-slope, T(0)));
    const T floor = Eigen::NumTraits<T>::epsilon() * std::sqrt(std::abs(value));
    const T scale = std::sqrt(std::abs(y.dot(hessian_ * y)));
    if (size <= small * scale + floor) {
      const bool is_over = size <= tiny * scale + floor || size > T(0.5) * previous;
      y += step_;
      if (is_over) {
        model_->at(x, y);
        return true;
      }
    } else if (!descend(x, y, value, slope)) {
      return false;
    }
    previous = size;
  }
  return false;
}

template class Newton<float>;
template class Newton<double>;
template class Newton<long double>;

} // namespace duplex::zoo
