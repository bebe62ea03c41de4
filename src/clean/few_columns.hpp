#pragma once
// Sparse samples without the columns that none of them has. The weights of these are zero wherever a penalized model is
// fitted, and a fit to fifty short texts need not carry those of fifty thousand words.

#include "clean/classifier.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace duplex::clean {

class FewColumns {
public:
  /// The columns that samples of these parts have, all of which are sparse.
  explicit FewColumns(std::span<const WeightedSamples> parts);

  [[nodiscard]] Index count() const { return static_cast<Index>(columns_.size()); }
  [[nodiscard]] LabelledSamples restricted(const LabelledSamples &samples) const;
  /// The parts one after the other, those with likelihoods in one and those without in another: every part would cost a
  /// pass over the weights of all columns.
  [[nodiscard]] std::vector<WeightedSamples> joined(std::span<const WeightedSamples> parts) const;
  /// Weights class after class, the bias last.
  [[nodiscard]] Vector restricted(const Vector &model, Index classes) const;
  /// And back, with zeros elsewhere.
  void expand(const Vector &few, Index classes, Vector &model) const;

private:
  void append(const FeatureTable &table, SparseEntries &entries) const;

  std::vector<std::uint32_t> columns_; ///< ascending
  std::vector<std::uint32_t> place_;   ///< of each column among them
};

} // namespace duplex::clean
