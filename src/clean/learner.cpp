#include "clean/learner.hpp"

#include "clean/linear.hpp"
#include "clean/subsets.hpp"

#include <duplex/core/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace duplex::clean {

namespace {

/// With labels that nobody asks for.
LabelledSamples unlabelled(FeatureTable table) {
  const auto rows = static_cast<std::size_t>(table.rows());
  return {std::make_shared<const FeatureTable>(std::move(table)),
          std::make_shared<const std::vector<std::uint32_t>>(rows)};
}

FoldedSamples with_features(const FoldedSamples &samples, std::shared_ptr<const FeatureTable> features) {
  return {{std::move(features), samples.samples.labels}, samples.folds};
}

std::vector<Index> offered_rows(Index rows, Index most, std::uint64_t seed) {
  std::mt19937_64 generator(seed + 29);
  std::vector<Index> out;
  for (const auto row : draw_few_without_repetition(generator, static_cast<std::size_t>(rows),
                                                    static_cast<std::size_t>(std::min(rows, most)))) {
    out.push_back(static_cast<Index>(row));
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

FoldedSamples some_of_each_fold(const FoldedSamples &all, Index most) {
  if (all.rows() <= most * all.folds) {
    return all;
  }
  std::vector<Index> rows;
  for (Index fold = 0; fold < all.folds; ++fold) {
    for (Index i = 0; i < std::min(most, all.count(fold)); ++i) {
      rows.push_back(all.first(fold) + i);
    }
  }
  return {gather(all.samples, rows), all.folds};
}

std::string Sight::name() const {
  const auto of_columns = shown_column_maps[static_cast<std::size_t>(columns)];
  return width > 0.0 ? fmt::format("kernel of width {:g}, features {}", width, of_columns)
                     : fmt::format("linear, features {}", of_columns);
}

const ColumnRule &MappedSamples::rule(ColumnMap kind) {
  const auto known = rules_.find(kind);
  if (known != rules_.end()) {
    return known->second;
  }
  return rules_.emplace(kind, kind == ColumnMap::ranks ? ranks_of(*all_) : ColumnRule{.kind = kind}).first->second;
}

const MappedSamples::Entry &MappedSamples::of(ColumnMap kind) {
  const auto known = entries_.find(kind);
  if (known != entries_.end()) {
    return known->second;
  }
  const ColumnRule &by = rule(kind);
  Entry entry{with_features(training_, mapped(by, training_.samples.features)), trusted_};
  if (trusted_.rows() > 0) {
    entry.trusted = with_features(trusted_, mapped(by, trusted_.samples.features));
  }
  return entries_.emplace(kind, std::move(entry)).first->second;
}

Learner::Learner(const Sight &sight, MappedSamples &samples, const LearnerSettings &settings)
    : sight_(sight), rule_(samples.rule(sight.columns)), threads_(settings.threads),
      training_(samples.training(sight.columns)), trusted_(samples.trusted(sight.columns)), seen_(training_),
      trusted_seen_(trusted_) {
  if (sight.width > 0.0) {
    const FeatureTable &table = *training_.samples.features;
    const double scale = 2.0 * sight.width * sight.width * sight.unit;
    landmarks_ =
        choose_landmarks(table, offered_rows(table.rows(), settings.most_landmarks, settings.seed), scale, threads_);
    seen_ = some_of_each_fold(training_, settings.most_kernel_rows / training_.folds);
    seen_ = with_features(
        seen_, std::make_shared<const FeatureTable>(kernel_features(*landmarks_, *seen_.samples.features, threads_)));
    if (trusted_.rows() > 0) {
      trusted_seen_ = with_features(trusted_, std::make_shared<const FeatureTable>(
                                                  kernel_features(*landmarks_, *trusted_.samples.features, threads_)));
    }
  }
  classifier_ = make_linear(seen_.samples.features->columns(), settings.classes,
                            mean_squared_length(*seen_.samples.features), threads_);
}

Learner::Learner(std::shared_ptr<const Classifier> classifier, ColumnMap columns, MappedSamples &samples)
    : sight_{.columns = columns}, rule_(samples.rule(columns)), training_(samples.training(columns)),
      trusted_(samples.trusted(columns)), seen_(training_), trusted_seen_(trusted_),
      classifier_(std::move(classifier)) {}

LabelledSamples Learner::training_in(Index fold) const {
  return slice(seen_.samples, seen_.first(fold), seen_.count(fold));
}

std::optional<LabelledSamples> Learner::trusted_in(Index fold) const {
  if (trusted_.rows() == 0 || trusted_.count(fold) == 0) {
    return std::nullopt;
  }
  return slice(trusted_seen_.samples, trusted_.first(fold), trusted_.count(fold));
}

Matrix Learner::judge_training(Index fold, const Vector &model) const {
  if (keeps_all_rows()) {
    return classifier_->log_probabilities(training_in(fold), model);
  }
  constexpr Index rows_at_once = 4096;
  const Index count = training_.count(fold);
  const Index classes = model.size() / (landmarks_->count() + 1);
  const Vector written = as_written(model, classes);
  Matrix out(count, classes);
  for (Index first = 0; first < count; first += rows_at_once) {
    const Index part = std::min(rows_at_once, count - first);
    const FeatureTable rows = training_.samples.features->slice(training_.first(fold) + first, part);
    out.middleRows(first, part) =
        classifier_->log_probabilities(unlabelled(kernel_values(*landmarks_, rows, threads_)), written);
  }
  return out;
}

Matrix Learner::judge_trusted(Index fold, const Vector &model) const {
  const auto samples = trusted_in(fold);
  return samples ? classifier_->log_probabilities(*samples, model) : Matrix();
}

Vector Learner::as_written(const Vector &model, Index classes) const {
  return landmarks_ ? on_kernel_values(*landmarks_, model, classes) : model;
}

} // namespace duplex::clean
