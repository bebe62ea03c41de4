#include "cli/clean_input.hpp"

#include "cli/progress.hpp"
#include "data/demo.hpp"
#include "data/table_plan.hpp"
#include "data/text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace duplex::cli {

namespace {

using data::Dataset;

/// Every file that is read is an input of the run.
data::ReadOptions reading_into(checkpoint::RunFolder &folder) {
  return {
      .opened = [&folder](const std::filesystem::path &file) { folder.add_input(file); },
  };
}

class FileReader {
public:
  FileReader(const CleanArguments &arguments, std::vector<data::Remark> &remarks)
      : arguments_(arguments), remarks_(remarks) {}

  /// Chooses what the columns are.
  Dataset training(std::string &text) {
    data::ReadOptions options = common(arguments_.train_labels);
    options.trusted_column = arguments_.trusted_column;
    options.drop = data::listed_columns("--drop", arguments_.drop);
    options.keep = data::listed_columns("--keep", arguments_.keep);
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(arguments_.train, unknown)) {
      options.copy = &text;
    }
    Dataset dataset = read(arguments_.train, options);
    plan_ = dataset.plan ? dataset.plan : data::plan_of_numbers(dataset.features.columns(), dataset.feature_names);
    columns_ = dataset.features.columns();
    return dataset;
  }

  /// By the columns of the training data.
  Dataset other(const std::string &file, const std::string &labels_file, bool expect_labels) {
    data::ReadOptions options = common(labels_file);
    options.expect_labels = expect_labels;
    options.expect_id = false; // suspects are among the training rows
    options.expect_source = false;
    options.plan = plan_;
    options.columns = columns_;
    return read(file, options);
  }

  /// Probabilities with a column for each class of the training data, for so many rows, as logarithms.
  clean::Matrix probabilities(const std::string &file, const Dataset &training, std::size_t rows,
                              const std::string &of) {
    data::ReadOptions options = reading_into(*arguments_.folder);
    options.expect_labels = false;
    options.columns = static_cast<Index>(training.label_names.size());
    auto plan = std::make_shared<data::TablePlan>(*data::plan_of_numbers(options.columns, training.label_names));
    for (auto &column : plan->columns) { // a cell that is missing is no probability
      column.fill = std::numeric_limits<float>::quiet_NaN();
    }
    plan->columns_are = "classes";
    options.plan = std::move(plan);
    const Dataset found = read(file, options);
    if (found.features.columns() != options.columns) {
      throw InvalidInput(fmt::format("{}: found {} columns, expected one for each of the {} classes of {}", file,
                                     found.features.columns(), options.columns, training.source));
    }
    if (static_cast<std::size_t>(found.features.rows()) != rows) {
      throw InvalidInput(
          fmt::format("{}: found {} rows of probabilities, expected {}, as many as {} has, below a line with the names "
                      "of the classes",
                      file, found.features.rows(), rows, of));
    }
    return clean::log_beliefs(found);
  }

private:
  [[nodiscard]] data::ReadOptions common(const std::string &labels_file) const {
    data::ReadOptions options = reading_into(*arguments_.folder);
    options.label = arguments_.label;
    options.id = arguments_.id;
    options.source = arguments_.source;
    options.labels_file = labels_file;
    return options;
  }

  Dataset read(const std::string &file, data::ReadOptions &options) {
    if (file == data::standard_input && std::exchange(has_read_standard_input_, true)) {
      throw InvalidInput("two files are to be read from standard input, expected one");
    }
    StatusLine status;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      status.show(total > 0 ? fmt::format("reading {}: {:.0f} %", file,
                                          100.0 * static_cast<double>(done) / static_cast<double>(total))
                            : fmt::format("reading {}: {:.0f} MB", file, static_cast<double>(done) / 1e6));
    };
    Dataset dataset = data::read_dataset(file, options);
    remarks_.insert(remarks_.end(), dataset.remarks.begin(), dataset.remarks.end());
    return dataset;
  }

  const CleanArguments &arguments_;
  std::vector<data::Remark> &remarks_;
  std::shared_ptr<const data::TablePlan> plan_;
  Index columns_ = 0;
  bool has_read_standard_input_ = false;
};

/// Of the rows as they are cleaned and trusted; trusted rows that --train itself marks are among its probabilities.
clean::OthersBeliefs read_probabilities(const CleanArguments &arguments, const CleanInput &input, FileReader &reader) {
  clean::OthersBeliefs others;
  const auto &training = input.training;
  const std::size_t rows = training.labels.size();
  if (!arguments.trusted_column.empty()) {
    const auto all =
        reader.probabilities(arguments.pred_probs, training, rows + input.trusted.labels.size(), arguments.train);
    others.training = all(training.file_rows, Eigen::all);
    others.trusted = all(input.trusted.file_rows, Eigen::all);
    return others;
  }
  if (!arguments.trusted.empty() && arguments.trusted_pred_probs.empty()) {
    throw InvalidInput("--pred-probs is for the rows of --train alone, expected --trusted-pred-probs FILE for those of "
                       "--trusted, or trusted rows in --train with --trusted-column, or none");
  }
  others.training = reader.probabilities(arguments.pred_probs, training, rows, arguments.train);
  if (!arguments.trusted.empty()) {
    others.trusted =
        reader.probabilities(arguments.trusted_pred_probs, training, input.trusted.labels.size(), arguments.trusted);
  }
  return others;
}

CleanInput read_files(const CleanArguments &arguments) {
  const bool is_marked = !arguments.trusted_column.empty();
  if (arguments.train.empty()) {
    throw InvalidInput("--train FILE is needed, or --demo fashion-mnist");
  }
  CleanInput input;
  FileReader reader(arguments, input.remarks);
  input.training = reader.training(input.text);
  if (!arguments.source.empty() && input.training.sources.empty()) {
    throw InvalidInput(fmt::format("{}: --source {} names no column, expected one that says who labelled each row",
                                   arguments.train, arguments.source));
  }
  if (is_marked) {
    input.trusted = data::take_marked_rows(input.training);
  } else if (!arguments.trusted.empty()) {
    input.trusted = reader.other(arguments.trusted, arguments.trusted_labels, true);
    data::require_same_features(input.training, input.trusted);
    data::map_labels_onto(input.training, input.trusted);
  }
  if (!arguments.pred_probs.empty()) {
    input.others = read_probabilities(arguments, input, reader);
  }
  if (!arguments.test.empty()) {
    input.test = reader.other(arguments.test, arguments.test_labels, false);
    data::require_same_features(input.training, *input.test);
    if (!input.test->labels.empty()) {
      data::map_labels_onto(input.training, *input.test);
    }
  }
  return input;
}

CleanInput read_demo(const CleanArguments &arguments) {
  auto demo = data::make_demo({.set = named<data::DemoSet>("demo", arguments.demo),
                               .folder = arguments.data_dir,
                               .training = arguments.samples,
                               .trusted = arguments.trusted_samples,
                               .noise = {.fraction = arguments.noise,
                                         .kind = named<data::NoiseKind>("noise-kind", arguments.noise_kind),
                                         .seed = arguments.options.seed},
                               .reading = reading_into(*arguments.folder)});
  auto wrong = demo.wrong();
  return {.training = std::move(demo.training),
          .trusted = std::move(demo.trusted),
          .test = std::move(demo.test),
          .wrong = std::move(wrong)};
}

} // namespace

CleanInput read_clean_input(const CleanArguments &arguments) {
  return arguments.demo.empty() ? read_files(arguments) : read_demo(arguments);
}

} // namespace duplex::cli
