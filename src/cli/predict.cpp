#include "checkpoint/run_folder.hpp"
#include "clean/model_file.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "report/files.hpp"
#include "report/json_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace duplex::cli {

namespace {

struct PredictArguments {
  std::string model;
  std::string data;
  std::string labels_file;
  std::string label;
  std::string id;
  std::string out;
  bool as_json = false;
};

void refuse_to_write_over_what_is_read(const PredictArguments &arguments) {
  const std::filesystem::path out = arguments.out;
  const bool is_of_model =
      report::is_same_file(arguments.model, out.parent_path()) && out.filename().string().starts_with("model");
  if (is_of_model || report::is_same_file(out, arguments.data) || report::is_same_file(out, arguments.labels_file)) {
    throw InvalidInput(
        fmt::format("--out {}: that file is read, and would be written over; name another one", arguments.out));
  }
}

int predict_labels(const PredictArguments &arguments) {
  refuse_to_write_over_what_is_read(arguments);
  if (!arguments.out.empty()) {
    checkpoint::refuse_files_of_runs("--out", arguments.out);
    const auto folder = std::filesystem::path(arguments.out).parent_path();
    report::require_writable_folder(folder.empty() ? "." : folder);
  }
  const auto model = clean::read_model(arguments.model);
  StatusLine status;
  const bool wants_accuracy = !arguments.label.empty() || !arguments.labels_file.empty();
  data::ReadOptions options{.label = arguments.label.empty() ? model.label_column : arguments.label,
                            .id = arguments.id.empty() ? model.id_column : arguments.id,
                            .plan = clean::plan_of(model),
                            .labels_file = arguments.labels_file,
                            .expect_id = !arguments.id.empty(),
                            .expect_labels = wants_accuracy,
                            .columns = model.features};
  options.progress = [&](std::uint64_t done, std::uint64_t /*total*/) {
    status.show(fmt::format("reading {}: {:.0f} MB", arguments.data, static_cast<double>(done) / 1e6));
  };
  auto dataset = data::read_dataset(arguments.data, options);
  for (const auto &note : dataset.remarks) {
    checkpoint::tell_on_standard_error(note.text);
  }
  const auto predictions = clean::predict(model, dataset);
  nlohmann::ordered_json json{{"rows", predictions.size()}, {"model", arguments.model}, {"data", arguments.data}};
  std::string remark;
  if (!dataset.labels.empty()) {
    try {
      data::map_labels_onto(clean::schema_of(model, (std::filesystem::path(arguments.model) / "model.json").string()),
                            dataset);
      const double accuracy = clean::accuracy(predictions, dataset.labels);
      json["accuracy"] = accuracy;
      remark = fmt::format("accuracy on {} rows: {:.2f} %\n", predictions.size(), 100.0 * accuracy);
    } catch (const InvalidInput &error) {
      if (wants_accuracy) {
        throw;
      }
      remark = fmt::format("no accuracy: {}\n", error.what());
    }
  }
  for (const auto &note : dataset.remarks) {
    json["warnings"].push_back({{"code", note.code}, {"text", note.text}});
  }
  const std::string csv = clean::predictions_csv(model, dataset, predictions);
  if (!arguments.out.empty()) {
    report::write_file(arguments.out, csv);
  } else if (!arguments.as_json) {
    fmt::print("{}", csv);
  }
  if (!arguments.as_json) {
    (void)std::fputs(remark.c_str(), stderr);
  }
  if (arguments.as_json) {
    fmt::print("{}\n", report::json_text(json, 2));
  } else if (!arguments.out.empty()) {
    fmt::print("written: {}\n", arguments.out);
  }
  return exit_success;
}

} // namespace

void add_predict(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("predict", "Predict labels with a model that duplex clean has written");
  auto arguments = std::make_shared<PredictArguments>();
  command->add_option("--model", arguments->model, "Folder with model.json and model.npy")->required();
  command->add_option("--data", arguments->data, "Rows to predict: CSV, .npy, LIBSVM or IDX; - is standard input")
      ->required();
  command->add_option("--label", arguments->label, "Column of the label, where the rows have one (CSV)");
  command->add_option("--labels", arguments->labels_file, "Labels, where the rows are .npy or IDX and have some");
  command->add_option("--id", arguments->id, "Column that names a row, by name or number (CSV)");
  command->add_option("--out", arguments->out, "Write the predictions to this CSV file instead of printing them");
  command->add_flag("--json", arguments->as_json, "Print a summary as JSON instead of the predictions");
  command->footer(
      "Prints row, id, label, predicted class and its probability as CSV. Where the rows have labels, the\n"
      "accuracy goes to standard error. Columns of labels and ids are those of the training file unless given.");
  command->callback([arguments, &chosen] { chosen = [arguments] { return predict_labels(*arguments); }; });
}

} // namespace duplex::cli
