#include "clean/few_columns.hpp"

#include <utility>

namespace duplex::clean {

FewColumns::FewColumns(std::span<const WeightedSamples> parts) {
  std::vector<bool> used(static_cast<std::size_t>(parts.front().samples.features->columns()));
  for (const auto &part : parts) {
    const FeatureTable &table = *part.samples.features;
    for (Index i = 0; i < table.rows(); ++i) {
      for (const std::uint32_t column : table.sparse_row(i).columns) {
        used[column] = true;
      }
    }
  }
  place_.resize(used.size());
  for (std::size_t column = 0; column < used.size(); ++column) {
    place_[column] = static_cast<std::uint32_t>(columns_.size());
    if (used[column]) {
      columns_.push_back(static_cast<std::uint32_t>(column));
    }
  }
  if (columns_.empty()) { // a table has one column at least
    columns_.push_back(0);
  }
}

void FewColumns::append(const FeatureTable &table, SparseEntries &entries) const {
  for (Index i = 0; i < table.rows(); ++i) {
    const SparseRow row = table.sparse_row(i);
    for (const std::uint32_t column : row.columns) {
      entries.columns.push_back(place_[column]);
    }
    entries.values.insert(entries.values.end(), row.values.begin(), row.values.end());
    entries.ends.push_back(entries.values.size());
  }
}

LabelledSamples FewColumns::restricted(const LabelledSamples &samples) const {
  SparseEntries entries;
  append(*samples.features, entries);
  return {std::make_shared<const FeatureTable>(std::move(entries), count()), samples.labels};
}

std::vector<WeightedSamples> FewColumns::joined(std::span<const WeightedSamples> parts) const {
  std::vector<WeightedSamples> out;
  for (const bool with_likelihoods : {false, true}) {
    SparseEntries entries;
    auto labels = std::make_shared<std::vector<std::uint32_t>>();
    WeightedSamples all;
    Matrix likelihoods;
    for (const auto &part : parts) {
      if ((part.likelihoods != nullptr) != with_likelihoods) {
        continue;
      }
      append(*part.samples.features, entries);
      labels->insert(labels->end(), part.samples.labels->begin(), part.samples.labels->end());
      const Index before = all.weights.size();
      all.weights.conservativeResize(before + part.weights.size());
      all.weights.tail(part.weights.size()) = part.weights;
      if (with_likelihoods) {
        likelihoods.conservativeResize(before + part.weights.size(), part.likelihoods->cols());
        likelihoods.bottomRows(part.weights.size()) =
            part.likelihoods->middleRows(part.first_likelihood, part.weights.size());
      }
    }
    if (!labels->empty()) {
      all.samples = {std::make_shared<const FeatureTable>(std::move(entries), count()), std::move(labels)};
      if (with_likelihoods) {
        all.likelihoods = std::make_shared<const Matrix>(std::move(likelihoods));
      }
      out.push_back(std::move(all));
    }
  }
  return out;
}

Vector FewColumns::restricted(const Vector &model, Index classes) const {
  const Index stride = model.size() / classes;
  Vector few(classes * (count() + 1));
  for (Index k = 0; k < classes; ++k) {
    for (Index j = 0; j < count(); ++j) {
      few[k * (count() + 1) + j] = model[k * stride + static_cast<Index>(columns_[static_cast<std::size_t>(j)])];
    }
    few[(k + 1) * (count() + 1) - 1] = model[(k + 1) * stride - 1];
  }
  return few;
}

void FewColumns::expand(const Vector &few, Index classes, Vector &model) const {
  const Index stride = model.size() / classes;
  model.setZero();
  for (Index k = 0; k < classes; ++k) {
    for (Index j = 0; j < count(); ++j) {
      model[k * stride + static_cast<Index>(columns_[static_cast<std::size_t>(j)])] = few[k * (count() + 1) + j];
    }
    model[(k + 1) * stride - 1] = few[(k + 1) * (count() + 1) - 1];
  }
}

} // namespace duplex::clean
