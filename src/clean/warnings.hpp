#pragma once
// What a user should know before relying on what a cleaning found: sentences, each with a code.

#include "clean/cleaning.hpp"
#include "clean/prepare.hpp"
#include "data/dataset.hpp"

#include <vector>

namespace duplex::clean {

/// Of trusted rows beside training rows, as they were read:
///   no-trusted-rows, trusted-one-class, class-without-trusted-rows, few-trusted-rows, trusted-is-training,
///   trusted-contradicts-training
[[nodiscard]] std::vector<data::Remark> warnings_of_input(const data::Dataset &training, const data::Dataset &trusted);

/// Of the result:
///   column-left-out (that never varies), features-tell-nothing, features-tell-little, wrong-or-overlapping,
///   probabilities-seem-fitted, trusted-disagrees, disagreement-beyond-suspects
[[nodiscard]] std::vector<data::Remark> warnings_of_result(const Result &result, const Prepared &prepared,
                                                           const data::Dataset &training);

} // namespace duplex::clean
