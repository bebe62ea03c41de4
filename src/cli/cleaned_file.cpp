#include "cli/cleaned_file.hpp"

#include "data/csv_copy.hpp"
#include "data/csv_write.hpp"
#include "data/table_plan.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace duplex::cli {

namespace {

constexpr const char *cleaned_name = "cleaned.csv";

std::unique_ptr<data::ByteSource> training_text(const CleanArguments &arguments, const CleanInput &input) {
  if (!input.text.empty()) {
    return std::make_unique<data::MemorySource>(input.training.source, input.text);
  }
  static const data::ReadOptions plain;
  return data::unpacked(data::open_file(arguments.train, plain));
}

/// Where each row of the file is among the training rows; rows that the file marks as trusted are not.
std::vector<Index> training_rows(const CleanInput &input) {
  const auto &rows = input.training.file_rows;
  std::vector<Index> found(rows.empty() ? input.training.labels.size() : rows.size() + input.trusted.file_rows.size(),
                           -1);
  for (std::size_t i = 0; i < input.training.labels.size(); ++i) {
    found[rows.empty() ? i : static_cast<std::size_t>(rows[i])] = static_cast<Index>(i);
  }
  return found;
}

/// Labels of the rows that the file marks as trusted, by row of the file.
std::vector<std::uint32_t> trusted_labels(const CleanInput &input, std::size_t rows) {
  std::vector<std::uint32_t> labels(rows);
  for (std::size_t i = 0; i < input.trusted.file_rows.size() && !input.training.file_rows.empty(); ++i) {
    labels[static_cast<std::size_t>(input.trusted.file_rows[i])] = input.trusted.labels[i];
  }
  return labels;
}

} // namespace

void require_cleaned_file(const CleanArguments &arguments, const data::Dataset &training) {
  const auto as = named<CleanedAs>("write", arguments.write);
  if (arguments.gave_write && as != CleanedAs::none && !training.plan) {
    throw InvalidInput(fmt::format("--write {}: {} is no CSV file, expected one to write again; suspects.csv and "
                                   "weights.csv name the rows",
                                   arguments.write, training.source));
  }
}

std::optional<report::NamedContent> cleaned_file(const CleanArguments &arguments, const CleanInput &input,
                                                 const clean::Outcome &outcome) {
  const auto as = named<CleanedAs>("write", arguments.write);
  const data::Dataset &training = input.training;
  if (as == CleanedAs::none || !training.plan || !training.label_column) {
    return std::nullopt;
  }
  const auto produce = [&, as](const report::Sink &sink) {
    const auto rows = training_rows(input);
    const auto trusted = trusted_labels(input, rows.size());
    const clean::Result &result = outcome.result;
    data::CsvCopy copy{.has_header = training.plan->has_names, .label = *training.label_column, .rows = rows.size()};
    if (as == CleanedAs::flag) {
      copy.added = {"trust", "suggested", "suspect"};
    }
    copy.change = [&](std::size_t file_row) {
      data::CopiedRow change;
      const Index row = rows[file_row];
      const bool is_suspect = row >= 0 && result.trust[row] < result.suspect_below;
      const std::string &suggested = training.label_names[is_suspect ? result.suggested[static_cast<std::size_t>(row)]
                                                          : row >= 0 ? training.labels[static_cast<std::size_t>(row)]
                                                                     : trusted[file_row]];
      change.is_left_out = is_suspect && as == CleanedAs::drop;
      constexpr float even_odds = 0.5F; // above it the given label is the likelier one still; doubts change no label
      const bool is_wrong = is_suspect && result.trust_before_doubts[row] < even_odds;
      change.label = as == CleanedAs::relabel && is_wrong ? &suggested : nullptr;
      if (as == CleanedAs::flag) {
        change.added = {row >= 0 ? fmt::format("{:.6g}", result.trust[row]) : "1", data::csv_cell(suggested),
                        is_suspect ? "1" : "0"};
      }
      return change;
    };
    copy_csv(*training_text(arguments, input), copy, sink);
  };
  return report::NamedContent{.name = cleaned_name, .produce = produce};
}

} // namespace duplex::cli
