#include <duplex/problems/hyper_cleaning.hpp>

#include <duplex/core/memory.hpp>

#include "kernels/row_products.hpp"
#include "problems/clouds.hpp"

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace duplex {

template <class Scalar>
HyperCleaning<Scalar>::HyperCleaning(LabelledSamples training, LabelledSamples trusted, Index classes, double rho,
                                     int threads)
    : training_(std::move(training)), trusted_(std::move(trusted)), classes_(classes), rho_(rho), threads_(threads) {
  require_samples(training_, classes, "hyper-cleaning: training");
  require_fitting(trusted_, "trusted");
  if (!(rho >= 0.0) || !std::isfinite(rho)) {
    throw InvalidInput("hyper-cleaning: rho = " + field_text(rho) + ", expected a finite number >= 0");
  }
}

template <class Scalar>
void HyperCleaning<Scalar>::require_fitting(const LabelledSamples &samples, const std::string &kind) const {
  require_samples(samples, classes_, "hyper-cleaning: " + kind);
  if (training_.features->columns() != samples.features->columns()) {
    throw InvalidInput("hyper-cleaning: " + std::to_string(samples.features->columns()) + " features of a " + kind +
                       " sample, expected " + std::to_string(training_.features->columns()) +
                       " as in the training samples");
  }
  if (training_.features->is_sparse() != samples.features->is_sparse()) {
    throw InvalidInput("hyper-cleaning: of " + kind + " and training samples one are sparse, expected both or neither");
  }
}

template <class Scalar> void HyperCleaning<Scalar>::hold_out(LabelledSamples samples) {
  require_fitting(samples, "held-out");
  held_out_ = std::move(samples);
}

template <class Scalar>
std::optional<double> HyperCleaning<Scalar>::held_out(const Vector & /*x*/, const Vector &y) const {
  if (!held_out_) {
    return std::nullopt;
  }
  const Index count = held_out_->features->rows();
  SoftmaxLoss<Scalar> loss(*held_out_, classes_, threads_);
  loss.at(y);
  return loss.value(Vector::Constant(count, Scalar(1) / static_cast<Scalar>(count)));
}

template <class Scalar> State<typename HyperCleaning<Scalar>::Vector> HyperCleaning<Scalar>::start() const {
  return {Vector::Zero(x_size()), Vector::Zero(y_size()), Vector::Zero(y_size())};
}

template <class Scalar>
HyperCleaning<Scalar>::Lower::Lower(const HyperCleaning &problem, const Batch *batch)
    : Level(problem.training_, problem, batch), rho_(static_cast<Scalar>(problem.rho_)), x_size_(problem.x_size()),
      weights_(this->batch().most), slopes_(this->batch().most) {}

template <class Scalar> void HyperCleaning<Scalar>::Lower::at(const Vector &x, const Vector &y) {
  const Batch &batch = this->batch();
  kernels::row_kernels<Scalar>().sigmoid(x.data() + batch.first, static_cast<std::size_t>(batch.count), weights_.data(),
                                         slopes_.data());
  const auto of_sample = static_cast<Scalar>(batch.weight);
  weights_ *= of_sample;
  slopes_ *= of_sample;
  Level::at(x, y);
}

template <class Scalar> double HyperCleaning<Scalar>::Lower::value() {
  return this->loss().value(weights_) + 0.5 * static_cast<double>(rho_) * static_cast<double>(this->y().squaredNorm());
}

template <class Scalar> void HyperCleaning<Scalar>::Lower::grad_x(Vector &out) {
  const Batch &batch = this->batch();
  out.setZero(x_size_);
  out.segment(batch.first, batch.count) = slopes_.head(batch.count).cwiseProduct(this->loss().losses());
}

template <class Scalar> void HyperCleaning<Scalar>::Lower::grad_y(Vector &out) {
  this->loss().gradient(weights_, out);
  if (rho_ > Scalar(0)) {
    out += rho_ * this->y();
  }
}

template <class Scalar> void HyperCleaning<Scalar>::Lower::hess_yy(const Vector &v, Vector &out) {
  this->loss().hessian(weights_, v, out);
  if (rho_ > Scalar(0)) {
    out += rho_ * v;
  }
}

template <class Scalar> void HyperCleaning<Scalar>::Lower::cross_xy(const Vector &v, Vector &out) {
  const Batch &batch = this->batch();
  out.setZero(x_size_);
  this->loss().slopes(slopes_, v, out.segment(batch.first, batch.count));
}

template <class Scalar> void HyperCleaning<Scalar>::Lower::both_products(const Vector &v, Vector &hess, Vector &cross) {
  const Batch &batch = this->batch();
  cross.setZero(x_size_);
  this->loss().hessian_and_slopes(weights_, slopes_, v, hess, cross.segment(batch.first, batch.count));
  if (rho_ > Scalar(0)) {
    hess += rho_ * v;
  }
}

template <class Scalar>
HyperCleaning<Scalar>::Upper::Upper(const HyperCleaning &problem, const Batch *batch)
    : Level(problem.trusted_, problem, batch), x_size_(problem.x_size()),
      weights_(Vector::Constant(this->batch().most, static_cast<Scalar>(this->batch().weight))) {}

template <class Scalar> double HyperCleaning<Scalar>::Upper::value() { return this->loss().value(weights_); }
template <class Scalar> void HyperCleaning<Scalar>::Upper::grad_x(Vector &out) { out.setZero(x_size_); }
template <class Scalar> void HyperCleaning<Scalar>::Upper::grad_y(Vector &out) { this->loss().gradient(weights_, out); }
template <class Scalar> void HyperCleaning<Scalar>::Upper::hess_yy(const Vector &v, Vector &out) {
  this->loss().hessian(weights_, v, out);
}
template <class Scalar> void HyperCleaning<Scalar>::Upper::cross_xy(const Vector & /*v*/, Vector &out) {
  out.setZero(x_size_);
}

template <class Scalar> HyperCleaning<Scalar> HyperCleaningSettings::generate() const {
  require_memory(sizeof(Scalar) * numbers(), "hyper-cleaning with these samples, features and classes");
  std::mt19937_64 generator(seed);
  const auto centres = centres_of_classes(generator, classes, features, features, separation);
  auto training = clouds(generator, centres, samples);
  auto labels = *training.labels;
  std::bernoulli_distribution is_wrong(noise);
  std::uniform_int_distribution<std::uint32_t> shift(1, static_cast<std::uint32_t>(classes - 1));
  for (auto &label : labels) {
    if (is_wrong(generator)) {
      label = (label + shift(generator)) % static_cast<std::uint32_t>(classes);
    }
  }
  training.labels = std::make_shared<const std::vector<std::uint32_t>>(std::move(labels));
  HyperCleaning<Scalar> problem(std::move(training), clouds(generator, centres, trusted), classes, rho);
  if (held_out > 0) {
    problem.hold_out(clouds(generator, centres, held_out));
  }
  return problem;
}

template <class Scalar> HyperCleaning<Scalar> HyperCleaningSettings::generate(LabelledParts parts) const {
  HyperCleaning<Scalar> problem(std::move(parts.training), std::move(parts.validation), parts.classes, rho);
  if (parts.held_out) {
    problem.hold_out(std::move(*parts.held_out));
  }
  return problem;
}

template <class Scalar> AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> HyperCleaningSettings::make() const {
  return generate<Scalar>();
}

template class HyperCleaning<float>;
template class HyperCleaning<double>;
template HyperCleaning<float> HyperCleaningSettings::generate() const;
template HyperCleaning<double> HyperCleaningSettings::generate() const;
template HyperCleaning<float> HyperCleaningSettings::generate(LabelledParts parts) const;
template HyperCleaning<double> HyperCleaningSettings::generate(LabelledParts parts) const;
template AnyProblem<Eigen::VectorXf> HyperCleaningSettings::make<float>() const;
template AnyProblem<Eigen::VectorXd> HyperCleaningSettings::make<double>() const;

} // namespace duplex
