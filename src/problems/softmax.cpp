#include <duplex/problems/softmax.hpp>

#include <utility>

namespace duplex {

template <class Scalar> PenalizedSoftmax<Scalar> SoftmaxSettings::generate(LabelledParts parts) const {
  return {std::move(parts), {.penalties = penalties, .bias = bias, .start = start, .limit = limit}};
}
template <class Scalar> PenalizedSoftmax<Scalar> SoftmaxSettings::generate() const {
  return generate<Scalar>(clouds.parts(classes));
}
template <class Scalar> AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> SoftmaxSettings::make() const {
  return generate<Scalar>();
}

template PenalizedSoftmax<float> SoftmaxSettings::generate() const;
template PenalizedSoftmax<double> SoftmaxSettings::generate() const;
template PenalizedSoftmax<float> SoftmaxSettings::generate(LabelledParts parts) const;
template PenalizedSoftmax<double> SoftmaxSettings::generate(LabelledParts parts) const;
template AnyProblem<Eigen::VectorXf> SoftmaxSettings::make<float>() const;
template AnyProblem<Eigen::VectorXd> SoftmaxSettings::make<double>() const;

} // namespace duplex
