#pragma once
// Softmax regression whose penalties are tuned on validation samples (shared/penalized_softmax.hpp).

#include <duplex/problems/shared/labelled_clouds.hpp>

#include <array>
#include <string_view>

namespace duplex {

struct SoftmaxSettings {
  static constexpr std::string_view name = "softmax";
  static constexpr std::string_view title = "softmax regression, penalties tuned on validation samples";

  /// Options of the synthetic samples alone.
  static constexpr std::array<std::string_view, 7> of_synthetic{
      "samples", "validation-samples", "held-out", "features", "informative", "separation", "classes"};

  LabelledClouds clouds = {};
  Index classes = 3;
  Penalties penalties = Penalties::by_feature;
  bool bias = true;
  double start = -2.0;
  double limit = 12.0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    LabelledClouds::fields(self.clouds, visit);
    visit("classes", self.classes, Bound{.low = 2}, "classes");
    visit("penalties", self.penalties, any_number,
          "what has a penalty of its own: one for all weights, a class, or a feature");
    visit("bias", self.bias, any_number, "a weight of each class that all samples have, without a penalty");
    visit("start", self.start, finite_number, "logarithm of each penalty at the start");
    visit("limit", self.limit, finite_positive, "logarithms of penalties are within ± this");
  }

  [[nodiscard]] std::uint64_t seed_of_samples() const { return clouds.seed; }
  /// Throws InvalidInput where the samples are larger than memory.
  template <class Scalar> [[nodiscard]] PenalizedSoftmax<Scalar> generate() const;
  /// The same problem on samples that are given.
  template <class Scalar> [[nodiscard]] PenalizedSoftmax<Scalar> generate(LabelledParts parts) const;

  template <class Scalar> [[nodiscard]] AnyProblem<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> make() const;
};

extern template PenalizedSoftmax<float> SoftmaxSettings::generate() const;
extern template PenalizedSoftmax<double> SoftmaxSettings::generate() const;
extern template PenalizedSoftmax<float> SoftmaxSettings::generate(LabelledParts parts) const;
extern template PenalizedSoftmax<double> SoftmaxSettings::generate(LabelledParts parts) const;
extern template AnyProblem<Eigen::VectorXf> SoftmaxSettings::make<float>() const;
extern template AnyProblem<Eigen::VectorXd> SoftmaxSettings::make<double>() const;

} // namespace duplex
