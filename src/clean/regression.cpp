#include "clean/regression.hpp"

#include <duplex/numerics/lbfgs.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::clean {

namespace {

/// Σ w_i ℓ_i at the point of the group's loss, whose next gradient is that of the same.
double value_of(const Group &group) {
  if (group.likelihoods == nullptr) {
    return group.loss->value(*group.weights);
  }
  constexpr float least = 1e-30F;
  Matrix p = group.loss->probabilities();
  double value = 0.0;
  for (Index i = 0; i < p.rows(); ++i) {
    auto row = p.row(i).array();
    row *= group.likelihoods->row(group.first_likelihood + i).array();
    const float sum = std::max(row.sum(), least);
    row /= sum;
    value -= static_cast<double>((*group.weights)[i]) * std::log(static_cast<double>(sum));
  }
  group.loss->set_targets(p);
  return value;
}

} // namespace

void fit(std::span<const Group> groups, Index classes, const FitOptions &options, Vector &y) {
  double total = 0.0;
  for (const auto &group : groups) {
    total += group.weights->cast<double>().sum();
  }
  const auto mean = static_cast<float>(1.0 / total);
  const auto rho = static_cast<float>(options.rho);
  constexpr float rho_of_bias = 1e-3F;
  const Index stride = y.size() / classes;
  Vector part;
  Vector penalized;
  const auto evaluate = [&](const Vector &at, Vector &gradient) {
    refuse_if_interrupted(options.interrupt);
    penalized = rho * at;
    for (Index k = 0; k < classes; ++k) {
      penalized[(k + 1) * stride - 1] *= rho_of_bias;
    }
    gradient = penalized;
    double value = 0.5 * static_cast<double>(at.dot(penalized));
    for (const auto &group : groups) {
      group.loss->at(at);
      value += value_of(group) / total;
      group.loss->gradient(*group.weights, part);
      gradient += mean * part;
    }
    return value;
  };
  (void)minimize_lbfgs(evaluate, y, {.max_iterations = options.iterations});
}

Matrix log_probabilities(Loss &loss, const Vector &y) {
  constexpr float smallest = 1e-7F;
  loss.at(y);
  return loss.probabilities().cwiseMax(smallest).array().log().matrix();
}

void softmax_rows(Matrix &scores) {
  for (Index i = 0; i < scores.rows(); ++i) {
    auto row = scores.row(i).array();
    row = (row - row.maxCoeff()).exp();
    row /= row.sum();
  }
}

} // namespace duplex::clean
