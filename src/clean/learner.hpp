#pragma once
// Models that judge rows which they have not seen. Training and trusted rows are cut into folds; a learner is a
// classifier with the rows as it sees them, and has a model for each fold, fitted to the rows of all others.

#include "clean/classifier.hpp"
#include "clean/feature_map.hpp"
#include "clean/landmarks.hpp"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace duplex::clean {

/// Samples in an order in which any run of them is like the whole, cut into runs of about equal length.
struct FoldedSamples {
  LabelledSamples samples; ///< may be none
  Index folds = 1;

  [[nodiscard]] Index rows() const { return samples.features ? samples.features->rows() : 0; }
  [[nodiscard]] Index first(Index fold) const { return fold * rows() / folds; }
  [[nodiscard]] Index count(Index fold) const { return first(fold + 1) - first(fold); }
};

/// At most so many samples of each fold.
[[nodiscard]] FoldedSamples some_of_each_fold(const FoldedSamples &all, Index most);

/// What a learner sees of features.
struct Sight {
  ColumnMap columns = ColumnMap::as_it_is;
  double width = 0.0; ///< of the Gaussian kernel, in units of the rows' median distance; 0: features themselves
  double unit = 0.0;  ///< that distance squared, > 0 where there is a width

  [[nodiscard]] std::string name() const;
};

/// Training and trusted samples by each map of columns that is asked for, each computed once.
class MappedSamples {
public:
  /// Ranks are those of `all`, which may be more samples.
  MappedSamples(FoldedSamples training, FoldedSamples trusted, const FeatureTable &all)
      : training_(std::move(training)), trusted_(std::move(trusted)), all_(&all) {}

  [[nodiscard]] const ColumnRule &rule(ColumnMap kind);
  [[nodiscard]] const FoldedSamples &training(ColumnMap kind) { return of(kind).training; }
  [[nodiscard]] const FoldedSamples &trusted(ColumnMap kind) { return of(kind).trusted; }

private:
  struct Entry {
    FoldedSamples training;
    FoldedSamples trusted;
  };
  [[nodiscard]] const Entry &of(ColumnMap kind);

  FoldedSamples training_;
  FoldedSamples trusted_;
  const FeatureTable *all_;
  std::map<ColumnMap, ColumnRule> rules_;
  std::map<ColumnMap, Entry> entries_;
};

struct LearnerSettings {
  Index classes = 0;
  int threads = 0;
  Index most_landmarks = 600;
  Index most_kernel_rows = 20'000; ///< whose kernel features are kept, and fitted to
  std::uint64_t seed = 0;
};

class Learner {
public:
  /// Softmax regression on what is seen of the samples.
  Learner(const Sight &sight, MappedSamples &samples, const LearnerSettings &settings);
  /// Another classifier, on the features themselves.
  Learner(std::shared_ptr<const Classifier> classifier, ColumnMap columns, MappedSamples &samples);

  [[nodiscard]] const Classifier &classifier() const { return *classifier_; }
  [[nodiscard]] const std::shared_ptr<const Classifier> &shared_classifier() const { return classifier_; }
  /// In its place, with the same features.
  void replace_classifier(std::shared_ptr<const Classifier> classifier) { classifier_ = std::move(classifier); }
  [[nodiscard]] const Sight &sight() const { return sight_; }
  [[nodiscard]] const ColumnRule &rule() const { return rule_; }
  [[nodiscard]] const std::optional<Landmarks> &landmarks() const { return landmarks_; }
  [[nodiscard]] Index folds() const { return training_.folds; }

  /// Rows of a fold that fits may use, the first of all its rows.
  [[nodiscard]] LabelledSamples training_in(Index fold) const;
  /// None where the fold has none.
  [[nodiscard]] std::optional<LabelledSamples> trusted_in(Index fold) const;
  [[nodiscard]] Index first_training(Index fold) const { return training_.first(fold); }
  [[nodiscard]] Index training_rows() const { return training_.rows(); }
  [[nodiscard]] Index trusted_rows() const { return trusted_.rows(); }
  [[nodiscard]] Index first_trusted(Index fold) const { return trusted_.first(fold); }

  /// What fits see of training and trusted rows.
  [[nodiscard]] const FoldedSamples &seen() const { return seen_; }
  [[nodiscard]] const FoldedSamples &trusted_seen() const { return trusted_seen_; }

  /// log p of all training rows of a fold, and of its trusted rows.
  [[nodiscard]] Matrix judge_training(Index fold, const Vector &model) const;
  [[nodiscard]] Matrix judge_trusted(Index fold, const Vector &model) const;

  /// A model in terms of what predictions compute: of kernel values where there are landmarks.
  [[nodiscard]] Vector as_written(const Vector &model, Index classes) const;

private:
  [[nodiscard]] bool keeps_all_rows() const { return seen_.rows() == training_.rows(); }

  Sight sight_;
  ColumnRule rule_;
  std::optional<Landmarks> landmarks_;
  int threads_ = 0;
  FoldedSamples training_; ///< by columns
  FoldedSamples trusted_;
  FoldedSamples seen_; ///< what fits see of training samples
  FoldedSamples trusted_seen_;
  std::shared_ptr<const Classifier> classifier_;
};

} // namespace duplex::clean
