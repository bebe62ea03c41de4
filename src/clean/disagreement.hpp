#pragma once
// Labels that are wrong where classes meet, beyond those that the account of labels finds.
//
// Models that are fitted to given labels take those that are wrong near a boundary for classes that overlap there: what
// they believe explains the labels, and nothing seems wrong. Trusted rows tell part of the truth. If given labels are
// right, trusted and given ones are told equally well by models that have not seen them: the difference of their mean
// log-probabilities is d ~ N(0, s²), s its standard error. If labels are wrong near boundaries it may be anything,
// larger or smaller, d ~ N(0, s² + σ²). So many labels are then taken for wrong:
//
//   P(wrong | d) · right · the part of the rows whose label is not what the models believe,
//
// right being the part of the trusted rows that the models are right of: where that is small, classes are known to
// overlap. Labels that are wrong by class are told worse, too: what the account of labels says of that is taken off d,
// and where many are so that already accounts for such rows, and nothing is added.

#include "clean/label_account.hpp"

namespace duplex::clean {

struct Disagreement {
  double part = 0.0;       ///< of the rows, whose given label is not the most probable one
  double right = 0.0;      ///< part of the trusted rows whose label is the most probable one
  double difference = 0.0; ///< d: below zero where given labels are told better than trusted ones
  double error = 0.0;      ///< s
};

/// What is known of the rows' labels already.
struct AccountedFor {
  const Matrix &posterior;     ///< P(true class | row, given label)
  double share_by_class = 0.0; ///< of the labels that are wrong by that, the part that is so by class
};

/// Of models that have not seen the rows. There must be some trusted ones. What labels that are wrong by class make of
/// d is taken off it, and no more than there is.
[[nodiscard]] Disagreement disagreement_of(const UnseenBeliefs &rows, const UnseenBeliefs &trusted,
                                           const AccountedFor &known);

/// P(wrong | d): that labels are wrong near boundaries, rather than all of them right and classes overlapping.
[[nodiscard]] double probability_of_wrong_labels(const Disagreement &disagreement);

/// Part of the labels that are taken for wrong, where this part is wrong by class.
[[nodiscard]] double part_taken_for_wrong(const Disagreement &disagreement, double wrong_by_class);

/// Lowers the odds of every trust by one factor, until this part of the labels is expected to be wrong. Nothing where
/// as many are already.
void lower_trust(double part_wrong, Vector &trust);

} // namespace duplex::clean
