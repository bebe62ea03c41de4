#include "zoo/network.hpp"

#include <cmath>

namespace duplex::zoo {

template <class T> void NetworkPass<T>::run(const Samples<T> &samples, const Vector &y, Index hidden) {
  inputs_ = &samples.features;
  const Index width = inputs_->cols();
  heads_ = y.tail(hidden + 1);
  active_.resize(inputs_->rows(), hidden + 1);
  active_.leftCols(hidden).noalias() = *inputs_ * Weights(y.data(), width, hidden);
  active_.leftCols(hidden) = active_.leftCols(hidden).unaryExpr([](T z) { return std::tanh(z); });
  active_.col(hidden).setOnes();
  steepness_ = T(1) - active_.leftCols(hidden).array().square();
  misfit_ = active_ * heads_ - samples.targets;
}

template <class T> void NetworkPass<T>::gather(const Matrix &hidden, const Vector &output, Vector &out) const {
  const Index width = inputs_->cols();
  const Index units = hidden.cols();
  out.resize(width * units + units + 1);
  Eigen::Map<Matrix>(out.data(), width, units).noalias() = inputs_->transpose() * hidden;
  out.tail(units + 1).noalias() = active_.transpose() * output;
}

template <class T> void NetworkPass<T>::slope(Vector &out) const {
  const Index units = steepness_.cols();
  const Vector output = misfit_ / count();
  const Matrix hidden = output.asDiagonal() * steepness_ * heads_.head(units).asDiagonal();
  gather(hidden, output, out);
}

/// With the change ζ_h = V_h·a of z_h and ω of u, the output changes by Jv = Σ_h u_h s_h ζ_h + Σ_h ω_h tanh(z_h) where
/// s = tanh', and s_h by −2 tanh(z_h) s_h ζ_h.
template <class T> void NetworkPass<T>::bend(const Vector &v, Vector &out) const {
  const Index units = steepness_.cols();
  const Matrix moved = *inputs_ * Weights(v.data(), inputs_->cols(), units);
  const auto tanh = active_.leftCols(units).array();
  const Vector heads = heads_.head(units);
  const Vector change_of_heads = v.tail(units + 1);
  const Matrix change_of_active = steepness_.cwiseProduct(moved);
  const Vector change = change_of_active * heads + active_ * change_of_heads;
  const Vector output = misfit_ / count();
  Matrix hidden = (change / count()).asDiagonal() * steepness_ * heads.asDiagonal();
  hidden += output.asDiagonal() * steepness_ * change_of_heads.head(units).asDiagonal();
  const Matrix curved = (T(-2) * tanh * change_of_active.array()).matrix();
  hidden += output.asDiagonal() * curved * heads.asDiagonal();
  gather(hidden, change / count(), out);
  out.tail(units + 1).head(units).noalias() += change_of_active.transpose() * output;
}

template <class T> void NetworkPass<T>::hessian(Matrix &out) const {
  const Index units = steepness_.cols();
  const Index width = inputs_->cols();
  const Index first = width * units;
  Matrix jacobian(misfit_.size(), first + units + 1);
  jacobian.rightCols(units + 1) = active_;
  for (Index h = 0; h < units; ++h) {
    jacobian.middleCols(h * width, width) = (heads_[h] * steepness_.col(h)).asDiagonal() * *inputs_;
  }
  out.noalias() = jacobian.transpose() * jacobian / count();
  for (Index h = 0; h < units; ++h) {
    const Vector curved =
        T(-2) * heads_[h] / count() * (misfit_.array() * active_.col(h).array() * steepness_.col(h).array());
    out.block(h * width, h * width, width, width).noalias() += inputs_->transpose() * curved.asDiagonal() * *inputs_;
    const Vector mixed = inputs_->transpose() * misfit_.cwiseProduct(steepness_.col(h)) / count();
    out.block(h * width, first + h, width, 1) += mixed;
    out.block(first + h, h * width, 1, width) += mixed.transpose();
  }
}

template <class T> Network<T>::Network(const NetworkSettings &settings) {
  Draws draws(settings.seed);
  const auto draw = [&](Index count) {
    Samples<double> samples{Eigen::MatrixXd::Ones(count, settings.inputs + 1), Eigen::VectorXd(count)};
    samples.features.leftCols(settings.inputs) = draws.normals(count, settings.inputs);
    const auto a = samples.features.array();
    samples.targets = ((2.0 * a.col(0)).sin() + a.col(1) * a.col(2)).matrix() + settings.noise * draws.normals(count);
    return samples;
  };
  const auto training = draw(settings.training);
  const auto validation = draw(settings.validation);
  data_ =
      std::make_shared<const Data>(Data{rounded<T>(training), rounded<T>(validation), settings.hidden, settings.seed});
}

template <class T> T Network<T>::Lower::value() {
  const Index first = data_->first_layer();
  const auto &y = this->y();
  return pass().loss() + T(0.5) * (std::exp(this->x()[0]) * y.head(first).squaredNorm() +
                                   std::exp(this->x()[1]) * y.tail(y.size() - first).squaredNorm());
}

template <class T> void Network<T>::Lower::add_decay(const Vector &v, Vector &out) const {
  const Index first = data_->first_layer();
  out.head(first) += std::exp(this->x()[0]) * v.head(first);
  out.tail(v.size() - first) += std::exp(this->x()[1]) * v.tail(v.size() - first);
}

template <class T> void Network<T>::Lower::grad_y(Vector &out) {
  pass().slope(out);
  add_decay(this->y(), out);
}

template <class T> void Network<T>::Lower::hess_yy(const Vector &v, Vector &out) {
  pass().bend(v, out);
  add_decay(v, out);
}

template <class T> void Network<T>::Lower::cross_xy(const Vector &v, Vector &out) {
  const Index first = data_->first_layer();
  const auto &y = this->y();
  out.resize(2);
  out[0] = std::exp(this->x()[0]) * y.head(first).dot(v.head(first));
  out[1] = std::exp(this->x()[1]) * y.tail(y.size() - first).dot(v.tail(v.size() - first));
}

template <class T> void Network<T>::Lower::hessian(Matrix &out) {
  pass().hessian(out);
  Vector decay = Vector::Zero(out.rows());
  add_decay(Vector::Ones(out.rows()), decay);
  out.diagonal() += decay;
}

template class NetworkPass<double>;
template class NetworkPass<long double>;
template class Network<double>;
template class Network<long double>;

} // namespace duplex::zoo
