#include "zoo/transport.hpp"

#include <cmath>

namespace duplex::zoo {

TransportData draw_transport(const TransportSettings &settings) {
  Draws draws(settings.seed);
  TransportData data;
  Eigen::MatrixXd cost = Eigen::MatrixXd::Zero(settings.sources, settings.targets);
  for (Index k = 0; k < settings.costs; ++k) {
    data.costs.push_back(draws.normals(settings.sources, settings.targets).cwiseAbs());
    cost += (0.25 + 1.5 * draws.uniform()) * data.costs.back();
  }
  // A plan of such costs, with noise; what leaves a source and what reaches a target is read off it, so that the two
  // sums agree exactly, as they must for the dual to be bounded: entries are multiples of 2⁻²⁰.
  data.observed = (-2.0 * cost + settings.noise * draws.normals(settings.sources, settings.targets)).array().exp();
  data.observed = (data.observed.array() / data.observed.sum() * 1048576.0).round().cwiseMax(1.0) / 1048576.0;
  return data;
}

template <class T> Transport<T>::Transport(const TransportSettings &settings) {
  const auto drawn = draw_transport(settings);
  std::vector<Matrix> costs;
  for (const auto &cost : drawn.costs) {
    costs.push_back(rounded<T>(cost));
  }
  const Matrix observed = drawn.observed.cast<T>();
  data_ = std::make_shared<const Data>(
      Data{std::move(costs), observed, observed.rowwise().sum(), observed.colwise().sum().transpose(), T(0.5),
           static_cast<T>(settings.sources * settings.targets), T(0), settings.holds_last});
}

template <class T> const typename Transport<T>::Matrix &Transport<T>::Plan::plan() {
  return plan_.get([&](Matrix &out) {
    exponents(this->y(), out);
    for (std::size_t k = 0; k < data_->costs.size(); ++k) {
      out -= this->x()[static_cast<Index>(k)] * data_->costs[k];
    }
    out = (out.array() / data_->smoothing).exp();
  });
}

template <class T> void Transport<T>::Plan::exponents(const Vector &v, Matrix &out) const {
  out = v.head(data_->sources()).replicate(1, data_->targets());
  out.leftCols(data_->free_targets()).rowwise() += v.tail(data_->free_targets()).transpose();
}

template <class T> void Transport<T>::Plan::sums(const Matrix &matrix, Vector &out) const {
  out.resize(data_->sources() + data_->free_targets());
  out.head(data_->sources()) = matrix.rowwise().sum();
  out.tail(data_->free_targets()) = matrix.leftCols(data_->free_targets()).colwise().sum().transpose();
}

template <class T> void Transport<T>::Plan::against_costs(const Matrix &matrix, T factor, Vector &out) const {
  out.resize(static_cast<Index>(data_->costs.size()));
  for (std::size_t k = 0; k < data_->costs.size(); ++k) {
    out[static_cast<Index>(k)] = factor * data_->costs[k].cwiseProduct(matrix).sum();
  }
}

template <class T> T Transport<T>::Lower::value() {
  return this->data_->smoothing * this->plan().sum() - this->data_->supply.dot(this->y().head(this->data_->sources())) -
         this->data_->demand.head(this->data_->free_targets()).dot(this->y().tail(this->data_->free_targets()));
}

template <class T> void Transport<T>::Lower::grad_y(Vector &out) {
  this->sums(this->plan(), out);
  out.head(this->data_->sources()) -= this->data_->supply;
  out.tail(this->data_->free_targets()) -= this->data_->demand.head(this->data_->free_targets());
}

template <class T> void Transport<T>::Lower::hess_yy(const Vector &v, Vector &out) {
  this->exponents(v, this->change_);
  this->change_.array() *= this->plan().array() / this->data_->smoothing;
  this->sums(this->change_, out);
}

template <class T> void Transport<T>::Lower::cross_xy(const Vector &v, Vector &out) {
  this->exponents(v, this->change_);
  this->change_.array() *= this->plan().array();
  this->against_costs(this->change_, T(-1) / this->data_->smoothing, out);
}

template <class T> void Transport<T>::Lower::hessian(Matrix &out) {
  const Index sources = this->data_->sources();
  const Index targets = this->data_->free_targets();
  const Matrix scaled = this->plan() / this->data_->smoothing;
  out.setZero(sources + targets, sources + targets);
  out.diagonal().head(sources) = scaled.rowwise().sum();
  out.diagonal().tail(targets) = scaled.leftCols(targets).colwise().sum().transpose();
  out.topRightCorner(sources, targets) = scaled.leftCols(targets);
  out.bottomLeftCorner(targets, sources) = scaled.leftCols(targets).transpose();
}

template <class T> typename Transport<T>::Matrix Transport<T>::Upper::slope() {
  return this->data_->scale * (this->plan() - this->data_->observed).cwiseProduct(this->plan());
}

template <class T> typename Transport<T>::Matrix Transport<T>::Upper::bending() {
  return this->data_->scale * (T(2) * this->plan() - this->data_->observed).cwiseProduct(this->plan());
}

template <class T> T Transport<T>::Upper::value() {
  return T(0.5) * (this->data_->scale * (this->plan() - this->data_->observed).squaredNorm() +
                   this->data_->prior * this->x().squaredNorm());
}

template <class T> void Transport<T>::Upper::grad_x(Vector &out) {
  this->against_costs(slope(), T(-1) / this->data_->smoothing, out);
  out += this->data_->prior * this->x();
}

template <class T> void Transport<T>::Upper::grad_y(Vector &out) {
  this->sums(slope(), out);
  out /= this->data_->smoothing;
}

template <class T> void Transport<T>::Upper::hess_yy(const Vector &v, Vector &out) {
  this->exponents(v, this->change_);
  this->change_.array() *= bending().array() / (this->data_->smoothing * this->data_->smoothing);
  this->sums(this->change_, out);
}

template <class T> void Transport<T>::Upper::cross_xy(const Vector &v, Vector &out) {
  this->exponents(v, this->change_);
  this->change_.array() *= bending().array();
  this->against_costs(this->change_, T(-1) / (this->data_->smoothing * this->data_->smoothing), out);
}

template class Transport<double>;
template class Transport<long double>;

} // namespace duplex::zoo
