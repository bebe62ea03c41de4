#pragma once
// Logistic regression whose penalties are tuned on validation samples (shared/penalized_softmax.hpp).

#include <duplex/problems/shared/labelled_clouds.hpp>

#include <array>
#include <string_view>

namespace duplex {

struct LogisticSettings {
  static constexpr std::string_view name = "logistic";
  static constexpr std::string_view title = "logistic regression, penalties tuned on validation samples";
  static constexpr Index most_classes = 2;

  /// Options of the synthetic samples alone.
  static constexpr std::array<std::string_view, 6> of_synthetic{"samples",  "validation-samples", "held-out",
                                                                "features", "informative",        "separation"};

  LabelledClouds clouds = {};
  Penalties penalties = Penalties::by_feature;
  bool bias = true;
  double start = -2.0;
  double limit = 12.0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    LabelledClouds::fields(self.clouds, visit);
    visit("penalties", self.penalties, any_number, "what has a penalty of its own: one for all weights, or a feature");
    visit("bias", self.bias, any_number, "a weight that all samples have, without a penalty");
    visit("start", self.start, finite_number, "logarithm of each penalty at the start");
    visit("limit", self.limit, finite_positive, "logarithms of penalties are within ± this");
  }

  [[nodiscard]] std::uint64_t seed_of_samples() const { return clouds.seed; }
  /// Throws InvalidInput where the samples are larger than memory, or where there is a penalty for each class.
  template <class Scalar> [[nodiscard]] PenalizedSoftmax<Scalar> generate() const;
  /// The same problem on samples that are given.
  template <class Scalar> [[nodiscard]] PenalizedSoftmax<Scalar> generate(LabelledParts parts) const;

  template <class Scalar> [[nodiscard]] AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> make() const;
};

extern template PenalizedSoftmax<float> LogisticSettings::generate() const;
extern template PenalizedSoftmax<double> LogisticSettings::generate() const;
extern template PenalizedSoftmax<float> LogisticSettings::generate(LabelledParts parts) const;
extern template PenalizedSoftmax<double> LogisticSettings::generate(LabelledParts parts) const;
extern template AnyProblem<Eigen::VectorXf> LogisticSettings::make<float>() const;
extern template AnyProblem<Eigen::VectorXd> LogisticSettings::make<double>() const;

} // namespace duplex
