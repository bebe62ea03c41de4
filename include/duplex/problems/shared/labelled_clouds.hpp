#pragma once
// Synthetic samples of classes: a cloud around each class's centre. The centres differ in some features; the others
// tell nothing, and are there to be penalized.

#include <duplex/core/fields.hpp>
#include <duplex/problems/shared/penalized_softmax.hpp>

#include <cstdint>

namespace duplex {

struct LabelledClouds {
  Index samples = 60;
  Index validation = 60;
  Index held_out = 60;
  Index features = 10;
  Index informative = 4;
  double separation = 1.5;
  std::uint64_t seed = 0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("samples", self.samples, at_least_one, "training samples");
    visit("validation-samples", self.validation, at_least_one, "samples of the upper level");
    visit("held-out", self.held_out, non_negative, "samples that neither level sees");
    visit("features", self.features, at_least_one, "numbers per sample");
    visit("informative", self.informative, non_negative, "features in which the classes differ");
    visit("separation", self.separation, finite_non_negative, "distance of the classes' centres from the origin");
    visit("seed", self.seed, non_negative, "seed of the samples, or of which rows of a file validate");
  }

  /// About how many numbers a problem on them and a run on it hold.
  [[nodiscard]] double numbers(Index classes) const;
  /// Throws InvalidInput where they are larger than memory.
  [[nodiscard]] LabelledParts parts(Index classes) const;
};

} // namespace duplex
