#include "clean/require_fitting.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace duplex::clean {

void require_fitting(const LabelledSamples &training, const LabelledSamples &trusted, Index classes,
                     const Options &options) {
  require_samples(training, classes, "training");
  if (trusted.features && trusted.features->rows() > 0) {
    require_samples(trusted, classes, "trusted");
  }
  const auto rows = static_cast<std::size_t>(training.features->rows());
  if (rows < 2) {
    throw InvalidInput("training: 1 sample, expected at least 2");
  }
  if (options.others) {
    const auto require_beliefs = [&](const Matrix &beliefs, const LabelledSamples &samples, std::string_view name) {
      const Index count = samples.features ? samples.features->rows() : 0;
      if (beliefs.rows() != count || (count > 0 && beliefs.cols() != classes)) {
        throw InvalidInput(fmt::format("{}: probabilities of {} rows and {} classes for {} samples of {} classes", name,
                                       beliefs.rows(), beliefs.cols(), count, classes));
      }
    };
    require_beliefs(options.others->training, training, "training");
    require_beliefs(options.others->trusted, trusted, "trusted");
  }
  const auto &sources = options.sources;
  if (!sources.of_row.empty() && sources.of_row.size() != rows) {
    throw InvalidInput(fmt::format("training: {} sources for {} samples", sources.of_row.size(), rows));
  }
  for (const auto source : sources.of_row) {
    if (static_cast<Index>(source) >= sources.count) {
      throw InvalidInput(
          fmt::format("training: source {}, expected less than the number of sources, {}", source, sources.count));
    }
  }
}

} // namespace duplex::clean
