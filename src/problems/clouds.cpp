#include "problems/clouds.hpp"

#include <duplex/core/memory.hpp>
#include <duplex/problems/shared/labelled_clouds.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace duplex {

Eigen::MatrixXd centres_of_classes(std::mt19937_64 &generator, Index classes, Index columns, Index informative,
                                   double separation) {
  Eigen::MatrixXd centres(classes, columns);
  for (Index k = 0; k < classes; ++k) {
    Eigen::VectorXd centre(columns);
    fill_normal(generator, centre);
    centre.tail(columns - informative).setZero();
    const double length = centre.norm();
    centres.row(k) = centre.transpose() * (separation / (length > 0.0 ? length : 1.0));
  }
  return centres;
}

LabelledSamples clouds(std::mt19937_64 &generator, const Eigen::MatrixXd &centres, Index count) {
  const Index columns = centres.cols();
  std::uniform_int_distribution<std::uint32_t> any_class(0, static_cast<std::uint32_t>(centres.rows() - 1));
  FeatureTable table(Storage::float32, columns);
  std::vector<std::uint32_t> labels;
  Eigen::VectorXd noise(columns);
  for (Index i = 0; i < count; ++i) {
    labels.push_back(any_class(generator));
    fill_normal(generator, noise);
    const Eigen::VectorXf sample = (noise + centres.row(labels.back()).transpose()).cast<float>();
    table.append(std::span<const float>(sample.data(), static_cast<std::size_t>(columns)));
  }
  return {std::make_shared<const FeatureTable>(std::move(table)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

double LabelledClouds::numbers(Index classes) const {
  const auto columns = static_cast<double>(features);
  const double rows = static_cast<double>(samples) + static_cast<double>(validation) + static_cast<double>(held_out);
  return rows * (columns + 20.0) + 20.0 * static_cast<double>(classes) * (columns + 1.0);
}

LabelledParts LabelledClouds::parts(Index classes) const {
  require_memory(sizeof(double) * numbers(classes), "samples of these numbers, features and classes");
  std::mt19937_64 generator(seed);
  const auto centres = centres_of_classes(generator, classes, features, std::min(informative, features), separation);
  LabelledParts parts{.training = clouds(generator, centres, samples),
                      .validation = clouds(generator, centres, validation),
                      .classes = classes};
  if (held_out > 0) {
    parts.held_out = clouds(generator, centres, held_out);
  }
  return parts;
}

} // namespace duplex
