#include "zoo/samples.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::zoo {

Eigen::VectorXd sparse_weights(Draws &draws, Index features, Index informative) {
  Eigen::VectorXd weights = draws.normals(features);
  weights.tail(features - std::min(informative, features)).setZero();
  return weights;
}

namespace {

/// By counting how many uniform numbers have a product above e^{−mean}.
double draw_count(Draws &draws, double mean) {
  const double limit = std::exp(-mean);
  double product = draws.uniform();
  double count = 0.0;
  while (product > limit) {
    product *= draws.uniform();
    count += 1.0;
  }
  return count;
}

} // namespace

Samples<double> draw_samples(Draws &draws, const SampleModel &model, Index count) {
  const Index features = model.weights.size();
  Samples<double> samples{draws.normals(count, features), Eigen::VectorXd(count)};
  const Eigen::VectorXd common = draws.normals(count);
  samples.features = std::sqrt(1.0 - model.correlation) * samples.features +
                     std::sqrt(model.correlation) * common * Eigen::RowVectorXd::Ones(features);
  const Eigen::VectorXd noise = model.noise * draws.normals(count);
  const Eigen::VectorXd scores = samples.features * model.weights + noise;
  for (Index i = 0; i < count; ++i) {
    const bool is_wrong = draws.uniform() < model.wrong_targets;
    switch (model.targets) {
    case Targets::numbers:
      samples.targets[i] = is_wrong ? -scores[i] : scores[i];
      break;
    case Targets::signs:
      samples.targets[i] = (scores[i] > 0.0) != is_wrong ? 1.0 : -1.0;
      break;
    case Targets::counts:
      samples.targets[i] = draw_count(draws, std::exp(scores[i]));
      break;
    }
  }
  return samples;
}

Samples<double> draw_digits(Draws &draws, Index count, Index kinds) {
  constexpr Index side = 8;
  Samples<double> samples{Eigen::MatrixXd(count, side * side), Eigen::VectorXd(count)};
  for (Index i = 0; i < count; ++i) {
    const Index kind = i % kinds;
    const double angle = 3.14159265358979 * static_cast<double>(kind) / static_cast<double>(kinds);
    // Every kind has a bar at its own angle, through a place that moves a little from image to image.
    const double row = 3.5 + (kind % 2 == 0 ? 1.0 : -1.0) + 0.5 * draws.normal();
    const double column = 3.5 + (kind % 3 == 0 ? 1.0 : -0.5) + 0.5 * draws.normal();
    for (Index pixel = 0; pixel < side * side; ++pixel) {
      const Index line = pixel / side;
      const double down = static_cast<double>(line) - row;
      const double right = static_cast<double>(pixel % side) - column;
      const double across = down * std::cos(angle) - right * std::sin(angle);
      const double along = down * std::sin(angle) + right * std::cos(angle);
      samples.features(i, pixel) = std::exp(-across * across - 0.1 * along * along) + 0.2 * draws.normal();
    }
    samples.targets[i] = static_cast<double>(kind);
  }
  return samples;
}

} // namespace duplex::zoo
