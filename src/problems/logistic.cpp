#include <duplex/problems/logistic.hpp>

#include <utility>

namespace duplex {

template <class Scalar> PenalizedSoftmax<Scalar> LogisticSettings::generate(LabelledParts parts) const {
  return {std::move(parts), {.penalties = penalties, .bias = bias, .contrast = true, .start = start, .limit = limit}};
}
template <class Scalar> PenalizedSoftmax<Scalar> LogisticSettings::generate() const {
  return generate<Scalar>(clouds.parts(2));
}
template <class Scalar> AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> LogisticSettings::make() const {
  return generate<Scalar>();
}

template PenalizedSoftmax<float> LogisticSettings::generate() const;
template PenalizedSoftmax<double> LogisticSettings::generate() const;
template PenalizedSoftmax<float> LogisticSettings::generate(LabelledParts parts) const;
template PenalizedSoftmax<double> LogisticSettings::generate(LabelledParts parts) const;
template AnyProblem<Eigen::VectorXf> LogisticSettings::make<float>() const;
template AnyProblem<Eigen::VectorXd> LogisticSettings::make<double>() const;

} // namespace duplex
