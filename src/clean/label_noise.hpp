#pragma once
// How labels go wrong: T_kl = P(given label l | true class k), estimated from what a model
// believes about the true classes, and what the given labels then say about them.

#include "clean/regression.hpp"

#include <cstdint>
#include <span>

namespace duplex::clean {

struct LabelNoise {
  Eigen::MatrixXd transition; ///< T, true class by given label

  /// By expectation maximization with the beliefs held fixed. A prior of one sample per class and
  /// label, shaped like noise that is the same for all, keeps classes with few samples sane.
  [[nodiscard]] static LabelNoise estimate(const Matrix &beliefs, std::span<const std::uint32_t> given);

  /// P(true class | features, given label) ∝ belief · T, rows as in `beliefs`.
  [[nodiscard]] Matrix posterior(const Matrix &beliefs, std::span<const std::uint32_t> given) const;

  /// Mutual information of true class and given label over the entropy of the true class: 1 where the
  /// labels are right, 0 where they say nothing.
  [[nodiscard]] double information(const Eigen::VectorXd &class_shares) const;
};

} // namespace duplex::clean
