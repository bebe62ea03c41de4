#pragma once
// What a cleaning found, in the order of the user's rows, and its files.

#include "clean/cleaning.hpp"
#include "clean/model_file.hpp"
#include "clean/prepare.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace duplex::clean {

using Json = nlohmann::ordered_json;

/// How well the wrong labels were found, where it is known which they are.
struct Quality {
  double f1 = 0.0;                ///< of the clean class
  double precision = 0.0;         ///< of the suspects
  double recall = 0.0;            ///< of the suspects
  double average_precision = 0.0; ///< of the ranking, worst first
};

/// F1 of the clean class where rows with score >= threshold are kept.
[[nodiscard]] double f1_of_clean(const Vector &score, float threshold, const std::vector<bool> &wrong);

/// Rows of less trust than the threshold are suspects; trust ranks them.
[[nodiscard]] Quality quality_of(const Vector &trust, float threshold, const std::vector<bool> &wrong);

/// Σ (1 − trust): how many labels are expected to be wrong.
[[nodiscard]] double expected_wrong(const Result &result);

struct Outcome {
  Result result;               ///< rows in the order of the file
  std::vector<Index> suspects; ///< worst first
  Model model;
  std::optional<Model> trusted_only; ///< where there are trusted rows
  std::optional<Quality> quality;
  double seconds_reading = 0.0;
};

/// Rows back in the order of the file, suspects ranked, the model in the units of the file.
[[nodiscard]] Outcome outcome_of(Result result, const Prepared &prepared, const data::Dataset &training);

[[nodiscard]] std::string suspects_csv(const Outcome &outcome, const data::Dataset &training);
[[nodiscard]] std::string weights_csv(const Outcome &outcome, const data::Dataset &training);

/// For summary.json: sizes, steps, noise, timings, quality.
[[nodiscard]] Json summary_json(const Outcome &outcome, const data::Dataset &training);

struct TestScores {
  double model = 0.0;
  std::optional<double> trusted_only = {};
  std::size_t rows = 0;
};

struct ReportInput {
  const Outcome &outcome;
  const Prepared &prepared;
  const data::Dataset &training;
  std::optional<TestScores> test;
  Json warnings; ///< a list of {"code", "text"}
  Json settings;
};

/// The page's data. Pictures of the worst suspects where the samples are images.
[[nodiscard]] Json report_json(const ReportInput &input);

} // namespace duplex::clean
