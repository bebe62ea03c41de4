#pragma once
// Labels that are wrong where classes meet, beyond those that the account of labels finds.
//
// Models that are fitted to given labels take those that are wrong near a boundary for classes that overlap there: what
// they believe explains the labels, and nothing seems wrong. Trusted rows tell part of the truth. If given labels were
// right, trusted and given ones would be told equally well by models that have not seen them; where they are not,
// better or worse, labels are wrong beyond chance, and the rows whose label is not the one that models believe in are
// the likeliest. So many labels are then taken for wrong:
//
//   (½ + ¼ min(|z|, 2)) · the part of the rows whose label is not what the models believe,
//
// z being the difference of the mean log-probabilities of trusted and given labels in its standard errors: half of
// them where trusted rows say nothing, all where they speak up. Where labels are wrong by class that already accounts
// for such rows, and nothing is added.

#include "clean/label_account.hpp"

namespace duplex::clean {

struct Disagreement {
  double part = 0.0;      ///< of the rows, whose given label is not the most probable one
  double deviation = 0.0; ///< z: below zero where given labels are told better than trusted ones
};

/// Of models that have not seen the rows; z is zero where there are fewer than two trusted rows.
[[nodiscard]] Disagreement disagreement_of(const UnseenBeliefs &rows, const UnseenBeliefs &trusted);

/// Part of the labels that are taken for wrong, where this part is wrong by class.
[[nodiscard]] double part_taken_for_wrong(const Disagreement &disagreement, double wrong_by_class);

/// Lowers the odds of every trust by one factor, until this part of the labels is expected to be wrong. Nothing where
/// as many are already.
void lower_trust(double part_wrong, Vector &trust);

} // namespace duplex::clean
