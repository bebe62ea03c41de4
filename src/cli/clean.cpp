#include "checkpoint/run_folder.hpp"
#include "clean/journal.hpp"
#include "clean/network.hpp"
#include "clean/outcome.hpp"
#include "clean/warnings.hpp"
#include "cli/clean_arguments.hpp"
#include "cli/clean_input.hpp"
#include "cli/cleaned_file.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/setup.hpp"
#include "cli/siblings.hpp"
#include "report/html.hpp"
#include "report/json_file.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

#include <duplex/run/summary.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace duplex::cli {

namespace {

using clean::Json;
using data::Dataset;

Json settings_json(const CleanArguments &arguments) {
  Json json{{"train", arguments.train},
            {"trusted", arguments.trusted},
            {"test", arguments.test},
            {"label", arguments.label},
            {"id", arguments.id}};
  for (const auto &[name, value] : {std::pair{"source", &arguments.source},
                                    {"trusted-column", &arguments.trusted_column},
                                    {"pred-probs", &arguments.pred_probs},
                                    {"trusted-pred-probs", &arguments.trusted_pred_probs},
                                    {"drop", &arguments.drop},
                                    {"keep", &arguments.keep}}) {
    if (!value->empty()) {
      json[name] = *value;
    }
  }
  if (!arguments.demo.empty()) {
    json = {{"demo", arguments.demo},
            {"samples", arguments.samples},
            {"trusted-samples", arguments.trusted_samples},
            {"noise", arguments.noise},
            {"noise-kind", arguments.noise_kind}};
  }
  json["model"] = arguments.model;
  if (arguments.options.model == clean::ModelKind::mlp) {
    json["hidden"] = arguments.options.hidden;
    json["device"] = arguments.options.device;
  }
  json["write"] = arguments.write;
  json["seed"] = arguments.options.seed;
  json["steps"] = arguments.options.most_steps;
  json["rounds"] = arguments.options.rounds;
  json["threshold"] = arguments.options.threshold;
  json["storage"] = arguments.storage;
  json["threads"] = arguments.options.threads;
  return json;
}

clean::Result run(clean::Options options, clean::Journal &journal, const clean::Prepared &prepared) {
  options.journal = &journal;
  options.pixels = prepared.pixels;
  options.sources = prepared.sources;
  StatusLine status;
  options.tell = [&](const std::string &what) { status.show(what); };
  return clean::clean(prepared.training, prepared.trusted, prepared.classes, options, [&](const clean::Look &look) {
    status.show(
        fmt::format("weighing the sources of labels, step {}: held-out loss {:.4f}, {} of {} weigh less than half",
                    look.step, look.held_out_loss, look.suspects, options.sources.count));
  });
}

/// With checkpoints in the folder; Ctrl-C leaves one.
clean::Result run_with_checkpoints(const CleanArguments &arguments, const clean::Prepared &prepared,
                                   const clean::OthersBeliefs *others, const SavedState *before) {
  auto &folder = *arguments.folder;
  clean::Journal journal([&](const SavedState &pieces) { folder.save(pieces); }, arguments.save_every, before);
  clean::Options options = arguments.options;
  if (others != nullptr) {
    options.others = std::make_shared<const clean::OthersBeliefs>(
        clean::OthersBeliefs{others->training(prepared.order, Eigen::all), others->trusted});
  }
  try {
    return run(options, journal, prepared);
  } catch (const Interrupted &) {
    journal.save();
    folder.end(checkpoint::RunState::interrupted);
    checkpoint::tell_on_standard_error(
        fmt::format("`duplex clean --resume {}` goes on with it", report::shell_quoted(arguments.out)));
    throw;
  }
}

std::optional<clean::TestScores> score_test(const clean::Outcome &outcome, const std::optional<Dataset> &test,
                                            std::string &csv) {
  if (!test) {
    return std::nullopt;
  }
  const auto predictions = clean::predict(outcome.model, *test);
  csv = clean::predictions_csv(outcome.model, *test, predictions);
  if (test->labels.empty()) {
    return std::nullopt;
  }
  return clean::TestScores{
      .model = clean::accuracy(predictions, test->labels),
      .trusted_only = outcome.trusted_only
                          ? std::optional(clean::accuracy(clean::predict(*outcome.trusted_only, *test), test->labels))
                          : std::nullopt,
      .rows = test->labels.size()};
}

void print_summary(const clean::Outcome &outcome, const Dataset &training,
                   const std::optional<clean::TestScores> &test) {
  const std::size_t rows = training.labels.size();
  fmt::print("{} of {} labels look wrong ({:.1f} %); by their trust, about {:.0f} of all labels are\n",
             outcome.suspects.size(), rows,
             100.0 * static_cast<double>(outcome.suspects.size()) / static_cast<double>(rows),
             clean::expected_wrong(outcome.result));
  const bool has_ids = !training.ids.empty();
  report::Table table({"worst suspects", has_ids ? "id" : "", "given", "suggested", "trust"});
  constexpr std::size_t shown = 8;
  constexpr std::size_t widest = 30;
  for (std::size_t place = 0; place < std::min(shown, outcome.suspects.size()); ++place) {
    const Index row = outcome.suspects[place];
    const auto i = static_cast<std::size_t>(row);
    table.add({fmt::format("row {}", training.row_number(i)),
               training.ids.empty() ? "" : report::elided(training.ids[i], widest),
               report::elided(training.label_names[training.labels[i]], widest),
               report::elided(training.label_names[outcome.result.suggested[i]], widest),
               short_number(static_cast<double>(outcome.result.trust[row]))});
  }
  if (!outcome.suspects.empty()) {
    fmt::print("\n{}", table.text());
  }
  fmt::print("\n");
  if (outcome.quality) {
    fmt::print("clean rows kept: F1 {:.3f}; suspects: precision {:.3f}, recall {:.3f}, average precision {:.3f}\n",
               outcome.quality->f1, outcome.quality->precision, outcome.quality->recall,
               outcome.quality->average_precision);
  }
  if (test) {
    fmt::print("test accuracy: {:.2f} %{}\n", 100.0 * test->model,
               test->trusted_only ? fmt::format(" (trusted rows alone: {:.2f} %)", 100.0 * *test->trusted_only) : "");
  }
  const auto &timings = outcome.result.timings;
  fmt::print("time: {} ({})\n", duration_text(timings.total()), fmt::join(outcome.result.seen_as, "; "));
}

/// The network's options would do nothing for another model.
void refuse_unused_options(const CleanArguments &arguments) {
  for (const auto &[option, given] :
       {std::pair{"--hidden", arguments.gave_hidden}, {"--device", arguments.gave_device}}) {
    if (given && arguments.options.model != clean::ModelKind::mlp) {
      throw InvalidInput(fmt::format("{} is the network's, expected --model mlp with it", option));
    }
  }
}

/// What the user should know: on standard error at once, later in summary.json and on the report page.
class Warnings {
public:
  void add(const std::vector<data::Remark> &more) {
    for (const auto &[code, text] : more) {
      checkpoint::tell_on_standard_error(text);
      json_.push_back({{"code", code}, {"text", text}});
    }
  }
  [[nodiscard]] const Json &json() const { return json_; }

private:
  Json json_ = Json::array();
};

bool is_written(const std::vector<report::NamedContent> &files, std::string_view name) {
  return std::any_of(files.begin(), files.end(), [&](const auto &file) { return file.name == name; });
}

/// Of a cleaning that was told all it needs, in its folder.
int clean_in_folder(const CleanArguments &arguments, clean::KeptAs kept_as, const SavedState *before) {
  Stopwatch reading;
  reading.start();
  CleanInput input = read_clean_input(arguments);
  require_cleaned_file(arguments, input.training);
  reading.pause();

  const Interruptible interruptible; // until here there is nothing to keep, and an earlier run is untouched
  for (const char *result : {"suspects.csv", "weights.csv", "cleaned.csv", "predictions.csv", "summary.json",
                             "model.npy", "model-hidden.npy", "model-columns.npy", "model-landmarks.npy"}) {
    arguments.folder->refuse_as_input(result);
  }
  if (before == nullptr) {
    arguments.folder->begin("clean", own_arguments());
  }
  Warnings warnings;
  warnings.add(input.remarks);
  warnings.add(clean::warnings_of_input(input.training, input.trusted));
  const auto prepared = clean::prepare(input.training, input.trusted, kept_as, arguments.options.seed);
  auto outcome =
      clean::outcome_of(run_with_checkpoints(arguments, prepared, input.others ? &*input.others : nullptr, before),
                        prepared, input.training);
  warnings.add(clean::warnings_of_result(outcome.result, prepared, input.training));
  outcome.seconds_reading = reading.seconds_while_paused();
  outcome.model.label_column = arguments.label;
  outcome.model.id_column = arguments.id;
  if (!input.wrong.empty()) {
    outcome.quality = clean::quality_of(outcome.result.trust, outcome.result.suspect_below, input.wrong);
  }
  std::string predictions;
  const auto test = score_test(outcome, input.test, predictions);

  Json summary = clean::summary_json(outcome, input.training);
  summary["settings"] = settings_json(arguments);
  summary["warnings"] = warnings.json();
  summary["scaling"] = prepared.scaling.kind;
  summary["stored_bytes_per_feature"] = bytes_of(prepared.training.features->storage());
  if (test) {
    summary["test"] = {{"rows", test->rows}, {"accuracy", test->model}};
    if (test->trusted_only) {
      summary["test"]["trusted_only_accuracy"] = *test->trusted_only;
    }
  }
  const std::string text = report::json_text(summary, 2) + "\n";
  auto files = clean::model_files(outcome.model);
  files.push_back({"suspects.csv", clean::suspects_csv(outcome, input.training)});
  files.push_back({"weights.csv", clean::weights_csv(outcome, input.training)});
  files.push_back({"summary.json", text});
  if (auto cleaned = cleaned_file(arguments, input, outcome)) {
    files.push_back(std::move(*cleaned));
  }
  if (!predictions.empty()) {
    files.push_back({"predictions.csv", std::move(predictions)});
  }
  if (report::html_available()) {
    files.push_back({"report.html", report::html_page(clean::report_json({.outcome = outcome,
                                                                          .prepared = prepared,
                                                                          .training = input.training,
                                                                          .test = test,
                                                                          .warnings = warnings.json(),
                                                                          .settings = settings_json(arguments)}))});
  }
  arguments.folder->write(files);
  arguments.folder->forget_checkpoints(); // there is nothing to go on with
  arguments.folder->end(checkpoint::RunState::finished);
  if (arguments.as_json) {
    fmt::print("{}", text);
    return exit_success;
  }
  print_summary(outcome, input.training, test);
  std::string of_model;
  for (const auto &file : clean::model_files(outcome.model)) {
    of_model += fmt::format(", {}", file.name);
  }
  fmt::print("\nwritten to {}: suspects.csv, weights.csv{}{}, summary.json{}\n", arguments.out,
             is_written(files, "cleaned.csv") ? ", cleaned.csv" : "", of_model, input.test ? ", predictions.csv" : "");
  if (report::html_available()) {
    fmt::print("report: {}\n", (std::filesystem::path(arguments.out) / "report.html").string());
  } else {
    fmt::print("no report.html: {}\n", report::html_unavailable_reason);
  }
  return exit_success;
}

} // namespace

int clean_labels(const CleanArguments &arguments, const std::vector<std::string> &more,
                 const std::vector<std::string> &own_options) {
  CleanArguments chosen = arguments;
  if (!more.empty() || !arguments.options.solver.empty()) {
    chosen.options.solver =
        solver_spec(arguments.options.solver.empty() ? "bagdc" : arguments.options.solver, more, own_options);
  }
  chosen.options.model = named<clean::ModelKind>("model", chosen.model);
  refuse_unused_options(chosen);
  if (chosen.source.empty() && !chosen.options.solver.empty()) {
    throw InvalidInput("--solver and its options are for the weights of sources, expected --source COLUMN with them");
  }
  if (chosen.options.model == clean::ModelKind::mlp) {
    clean::require_network_device(chosen.options.device);
  }
  const auto kept_as = named<clean::KeptAs>("storage", chosen.storage);
  (void)named<CleanedAs>("write", chosen.write);
  chosen.options.interrupt = &interrupt_requested();
  std::optional<SavedState> before;
  if (chosen.folder) {
    before = chosen.folder->load();
    chosen.folder->go_on();
  } else {
    chosen.folder = std::make_shared<checkpoint::RunFolder>(chosen.out);
  }
  return chosen.folder->run([&] {
    if (before) {
      chosen.folder->go_where_it_was_started();
    }
    return clean_in_folder(chosen, kept_as, before ? &*before : nullptr);
  });
}

} // namespace duplex::cli
