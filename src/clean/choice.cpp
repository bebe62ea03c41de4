#include "clean/choice.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace duplex::clean {

namespace {

constexpr std::array<double, 4> widths{1.0, 0.5, 0.25, 0.125};
constexpr Index rows_of_choice = 2000;

struct Candidate {
  Sight sight;
  Tried tried;
};

/// Maps of columns that are worth a try.
std::vector<ColumnMap> column_maps(const FeatureTable &table, const Options &options) {
  constexpr Index most_cells_of_ranks = Index{1} << 25; // which are computed anew, and kept beside the features
  std::vector<ColumnMap> out{robust_map(table, options.pixels)};
  if (!options.pixels && !table.is_sparse() && table.rows() * table.columns() <= most_cells_of_ranks) {
    out.push_back(ColumnMap::ranks);
  }
  return out;
}

class Choice {
public:
  Choice(const FoldedSamples &training, const FoldedSamples &trusted, Index classes, const Options &options)
      : options_(options),
        some_(some_of_each_fold(training, rows_of_choice / training.folds),
              some_of_each_fold(trusted, rows_of_choice / training.folds), *training.samples.features) {
    settings_ = {.classes = classes, .threads = options.threads, .most_landmarks = 300, .seed = options.seed};
  }

  void consider(const Sight &sight, std::optional<Candidate> &best) {
    const Learner learner(sight, some_, settings_);
    const Tried tried = try_penalties(learner, {.iterations = 25, .interrupt = options_.interrupt},
                                      learner.classifier().plan().penalties, 2);
    if (!best || tried.fitness.loss < best->tried.fitness.loss) {
      best = Candidate{sight, tried};
    }
  }

  /// From the widest on, as long as narrower ones are better.
  void consider_widths(ColumnMap columns, std::optional<Candidate> &best) {
    const double unit = median_squared_distance(*some_.training(columns).samples.features);
    if (!(unit > 0.0)) {
      return; // all rows are the same
    }
    std::optional<Candidate> of_columns;
    for (const double width : widths) {
      const auto before = of_columns;
      consider({columns, width, unit}, of_columns);
      if (before && of_columns->sight.width == before->sight.width) {
        break;
      }
    }
    if (!best || of_columns->tried.fitness.loss < best->tried.fitness.loss) {
      best = of_columns;
    }
  }

private:
  const Options &options_;
  MappedSamples some_;
  LearnerSettings settings_;
};

} // namespace

std::vector<Chosen> choose_learners(const FoldedSamples &training, const FoldedSamples &trusted, Index classes,
                                    const Options &options) {
  constexpr Index many_rows = 50'000;                         // where kernel values of all of them take long
  const bool sparse = training.samples.features->is_sparse(); // thousands of words: straight lines are enough
  std::optional<Candidate> linear;
  std::optional<Candidate> kernel;
  Choice choice(training, trusted, classes, options);
  for (const ColumnMap columns : column_maps(*training.samples.features, options)) {
    if (options.model != ModelKind::kernel || sparse) {
      choice.consider({columns, 0.0}, linear);
    }
    if (options.model != ModelKind::linear && !sparse) {
      choice.consider_widths(columns, kernel);
    }
  }
  if (!linear && !kernel) { // a kernel was asked for, and all rows are the same
    choice.consider({ColumnMap::as_it_is, 0.0}, linear);
  }
  const bool has_many = training.rows() > many_rows;
  const LearnerSettings settings{.classes = classes,
                                 .threads = options.threads,
                                 .most_landmarks = has_many ? 300 : 480,
                                 .most_kernel_rows = has_many ? 10'000 : many_rows / 2,
                                 .seed = options.seed};
  MappedSamples all(training, trusted, *training.samples.features);
  std::vector<Chosen> out;
  for (const auto &best : {linear, kernel}) {
    if (best) {
      out.push_back({Learner(best->sight, all, settings), best->tried.fitness, best->tried.rho});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Chosen &a, const Chosen &b) { return a.fitness.loss < b.fitness.loss; });
  return out;
}

} // namespace duplex::clean
