#include <duplex/problems/ridge.hpp>

#include <duplex/core/memory.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace duplex {

template <class Scalar>
Ridge<Scalar>::Ridge(Samples training, Samples validation, double rho, std::optional<Samples> held_out)
    : data_(std::make_shared<const Data>(
          Data{std::move(training), std::move(validation), static_cast<Scalar>(rho), std::move(held_out), {}})) {
  const auto require = [this](const char *name, const Samples &samples) {
    if (samples.features.rows() < 1 || samples.features.rows() != samples.targets.size()) {
      throw InvalidInput("ridge: " + std::string(name) + " has " + std::to_string(samples.features.rows()) +
                         " rows and " + std::to_string(samples.targets.size()) +
                         " targets, expected as many, and at least one");
    }
    if (samples.features.cols() != data_->training.features.cols()) {
      throw InvalidInput("ridge: " + std::string(name) + " has " + std::to_string(samples.features.cols()) +
                         " features, training has " + std::to_string(data_->training.features.cols()));
    }
    if (!samples.features.allFinite() || !samples.targets.allFinite()) {
      throw InvalidInput("ridge: " + std::string(name) + " holds NaN or infinity");
    }
  };
  require("training", data_->training);
  require("validation", data_->validation);
  if (data_->held_out) {
    require("held-out", *data_->held_out);
  }
  if (!(rho >= 0.0) || !std::isfinite(rho)) {
    throw InvalidInput("ridge: rho = " + field_text(rho) + ", expected >= 0 and finite");
  }
  auto complete = std::make_shared<Data>(*data_);
  const Matrix &features = complete->training.features;
  complete->gram = features.transpose() * features / static_cast<Scalar>(features.rows());
  data_ = std::move(complete);
}

template <class Scalar> std::optional<double> Ridge<Scalar>::held_out(const Vector & /*x*/, const Vector &y) const {
  if (!data_->held_out) {
    return std::nullopt;
  }
  const Samples &samples = *data_->held_out;
  return 0.5 * static_cast<double>((samples.features * y - samples.targets).squaredNorm()) /
         static_cast<double>(samples.targets.size());
}

template <class Scalar> const typename Ridge<Scalar>::Vector &Ridge<Scalar>::Lower::penalty() {
  return penalty_.get([&](Vector &out) { out = this->x().array().exp(); });
}

template <class Scalar> const typename Ridge<Scalar>::Vector &Ridge<Scalar>::Lower::misfit() {
  return misfit_.get([&](Vector &out) {
    out = -training_->targets;
    out.noalias() += training_->features * this->y();
  });
}

template <class Scalar> double Ridge<Scalar>::Lower::value() {
  return 0.5 * static_cast<double>(misfit().squaredNorm() / samples()) +
         0.5 * static_cast<double>((penalty().array() * this->y().array().square()).sum());
}

template <class Scalar> void Ridge<Scalar>::Lower::grad_x(Vector &out) {
  out = Scalar(0.5) * penalty().array() * this->y().array().square();
}

template <class Scalar> void Ridge<Scalar>::Lower::grad_y(Vector &out) {
  out.noalias() = training_->features.transpose() * misfit();
  out = out / samples() + penalty().cwiseProduct(this->y());
}

template <class Scalar> void Ridge<Scalar>::Lower::hess_yy(const Vector &v, Vector &out) {
  image_.noalias() = training_->features * v;
  out.noalias() = training_->features.transpose() * image_;
  out = out / samples() + penalty().cwiseProduct(v);
}

template <class Scalar> void Ridge<Scalar>::Lower::cross_xy(const Vector &v, Vector &out) {
  out = penalty().array() * this->y().array() * v.array();
}

template <class Scalar> const typename Ridge<Scalar>::Vector &Ridge<Scalar>::Upper::misfit() {
  return misfit_.get([&](Vector &out) {
    out = -validation_->targets;
    out.noalias() += validation_->features * this->y();
  });
}

template <class Scalar> double Ridge<Scalar>::Upper::value() {
  return 0.5 * static_cast<double>(misfit().squaredNorm() / samples()) +
         0.5 * static_cast<double>(rho_) * static_cast<double>(this->x().squaredNorm());
}

template <class Scalar> void Ridge<Scalar>::Upper::grad_x(Vector &out) { out = rho_ * this->x(); }

template <class Scalar> void Ridge<Scalar>::Upper::grad_y(Vector &out) {
  out.noalias() = validation_->features.transpose() * misfit();
  out /= samples();
}

template <class Scalar> void Ridge<Scalar>::Upper::hess_yy(const Vector &v, Vector &out) {
  image_.noalias() = validation_->features * v;
  out.noalias() = validation_->features.transpose() * image_;
  out /= samples();
}

template <class Scalar> void Ridge<Scalar>::Upper::cross_xy(const Vector &v, Vector &out) { out.setZero(v.size()); }

template <class Scalar> dense::SymmetricFactor<Scalar> Ridge<Scalar>::factor(const Vector &x) const {
  Matrix m = data_->gram;
  m.diagonal() += x.array().exp().matrix();
  return dense::SymmetricFactor<Scalar>(m);
}

template <class Scalar> typename Ridge<Scalar>::Vector Ridge<Scalar>::validation_slope(const Vector &y) const {
  const auto &[features, targets] = data_->validation;
  return features.transpose() * (features * y - targets) / static_cast<Scalar>(targets.size());
}

template <class Scalar> bool Ridge<Scalar>::respond(const Vector &x, Vector &y, Vector &v) const {
  const auto m = factor(x);
  if (m.is_positive_definite()) {
    respond(m, y, v);
  }
  return m.is_positive_definite();
}

template <class Scalar>
void Ridge<Scalar>::respond(const dense::SymmetricFactor<Scalar> &m, Vector &y, Vector &v) const {
  const auto &[features, targets] = data_->training;
  const Vector right = features.transpose() * targets / static_cast<Scalar>(targets.size());
  m.solve(right, y);
  m.solve(validation_slope(y), v);
}

template <class Scalar> Scalar Ridge<Scalar>::tolerance() const {
  return Scalar(100) * Eigen::NumTraits<Scalar>::epsilon() * std::sqrt(static_cast<Scalar>(x_size()));
}

/// φ to second order: ∇φ_j = ρx_j − e^{x_j}y_jv_j, and the derivatives of y* and v* are M⁻¹
/// applied to those of their equations.
template <class Scalar> typename Ridge<Scalar>::Curvature Ridge<Scalar>::curvature(const Vector &x) const {
  Curvature at;
  const auto m = factor(x);
  respond(m, at.y, at.v);
  const auto &validation = data_->validation;
  const auto count = static_cast<Scalar>(validation.targets.size());
  const Vector penalty = x.array().exp();
  const Vector py = penalty.cwiseProduct(at.y);
  const Vector pv = penalty.cwiseProduct(at.v);
  const Matrix dy = -m.solve(Matrix(py.asDiagonal()));
  Matrix right = validation.features.transpose() * (validation.features * dy) / count;
  right.diagonal() -= pv;
  const Matrix dv = m.solve(right);
  at.gradient = data_->rho * x - py.cwiseProduct(at.v);
  at.hessian = -(pv.asDiagonal() * dy) - py.asDiagonal() * dv;
  at.hessian.diagonal().array() += data_->rho - py.array() * at.v.array();
  at.hessian = (Scalar(0.5) * (at.hessian + at.hessian.transpose())).eval();
  at.value = Scalar(0.5) *
             ((validation.features * at.y - validation.targets).squaredNorm() / count + data_->rho * x.squaredNorm());
  return at;
}

template <class Scalar> std::optional<Answer<typename Ridge<Scalar>::Vector>> Ridge<Scalar>::answer() const {
  constexpr int most_steps = 500;
  Answer<Vector> best{start().x, {}, {}, 0.0};
  Curvature at = curvature(best.x);
  Scalar damping = Scalar(1e-3);
  for (int step = 0; step < most_steps && at.gradient.norm() > tolerance(); ++step) {
    const auto spectrum = dense::symmetric_spectrum<Scalar>(at.hessian);
    const Vector stiffness = spectrum.values.cwiseAbs().array() + damping;
    const Matrix &basis = spectrum.vectors;
    const Vector x = best.x - basis * (basis.transpose() * at.gradient).cwiseQuotient(stiffness);
    Curvature moved = curvature(x);
    const bool better = moved.value < at.value || moved.gradient.norm() < Scalar(0.5) * at.gradient.norm();
    damping = better ? damping * Scalar(0.1) : std::max(damping, Scalar(1e-12)) * Scalar(10);
    if (better) {
      best.x = x;
      at = std::move(moved);
    } else if (damping > Scalar(1e6)) {
      break;
    }
  }
  if (at.gradient.norm() > Scalar(1e4) * tolerance()) {
    return std::nullopt;
  }
  best.y = at.y;
  best.v = at.v;
  best.value = static_cast<double>(at.value);
  return best;
}

template <class Scalar> Ridge<Scalar> RidgeSettings::generate() const {
  require_memory(sizeof(Scalar) * numbers(), "ridge with these features and samples");
  using Vector = typename Ridge<Scalar>::Vector;
  std::mt19937_64 generator(seed);
  Vector weights(features);
  fill_normal(generator, weights);
  weights.tail(features - std::min(informative, features)).setZero();
  const auto sample = [&](Index count) {
    typename Ridge<Scalar>::Samples samples{{count, features}, Vector(count)};
    for (Index j = 0; j < features; ++j) {
      Vector column(count);
      fill_normal(generator, column);
      samples.features.col(j) = column;
    }
    fill_normal(generator, samples.targets);
    samples.targets = static_cast<Scalar>(noise) * samples.targets + samples.features * weights;
    return samples;
  };
  auto lower = sample(training);
  auto upper = sample(validation);
  using Samples = typename Ridge<Scalar>::Samples;
  auto neither = held_out > 0 ? std::optional<Samples>(sample(held_out)) : std::nullopt;
  return Ridge<Scalar>(std::move(lower), std::move(upper), rho, std::move(neither));
}

template <class Scalar> AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> RidgeSettings::make() const {
  return generate<Scalar>();
}

template class Ridge<float>;
template class Ridge<double>;
template Ridge<float> RidgeSettings::generate() const;
template Ridge<double> RidgeSettings::generate() const;
template AnyProblem<Eigen::VectorXf> RidgeSettings::make<float>() const;
template AnyProblem<Eigen::VectorXd> RidgeSettings::make<double>() const;

} // namespace duplex
