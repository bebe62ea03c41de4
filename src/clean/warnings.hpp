#pragma once
// What a user should know before relying on what a cleaning found: sentences, each with a code.

#include "clean/cleaning.hpp"
#include "clean/prepare.hpp"
#include "data/dataset.hpp"

#include <optional>
#include <vector>

namespace duplex::clean {

/// Of trusted rows beside training rows, as they were read:
///   no-trusted-rows, trusted-one-class, class-without-trusted-rows, few-trusted-rows, trusted-is-training,
///   trusted-contradicts-training
[[nodiscard]] std::vector<data::Remark> warnings_of_input(const data::Dataset &training, const data::Dataset &trusted);

/// How a model agrees with the labels that were given.
struct Agreement {
  double found = 0.0;      ///< part of the rows that it would label so itself
  double by_chance = 0.0;  ///< what that would be if labels had nothing to do with rows
  double confidence = 0.0; ///< what it expects where all labels are right: its mean largest probability
};

/// Of the model of the trusted rows alone on the training rows; none where no row is trusted.
[[nodiscard]] std::optional<Agreement> agreement_of_trusted_model(const Result &result, const data::Dataset &training);

/// Of the result:
///   column-left-out (that never varies), features-tell-nothing, features-tell-little, wrong-or-overlapping,
///   trusted-disagrees, disagreement-beyond-suspects
[[nodiscard]] std::vector<data::Remark> warnings_of_result(const Result &result, const Prepared &prepared,
                                                           const data::Dataset &training);

} // namespace duplex::clean
