#include "checkpoint/run_folder.hpp"
#include "clean/journal.hpp"
#include "clean/network.hpp"
#include "clean/outcome.hpp"
#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/setup.hpp"
#include "cli/torch_process.hpp"
#include "data/demo.hpp"
#include "names/suggest.hpp"
#include "report/html.hpp"
#include "report/json_file.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

#include <duplex/run/summary.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

namespace duplex::cli {

namespace {

using clean::Json;
using data::Dataset;

struct CleanArguments {
  std::string train;
  std::string trusted;
  std::string test;
  std::string train_labels;
  std::string trusted_labels;
  std::string test_labels;
  std::string label;
  std::string id;
  std::string out = "cleaned";
  std::string demo;
  std::string data_dir;
  double noise = 0.5;
  std::string noise_kind = "uniform";
  Index samples = 5000;
  Index trusted_samples = 500;
  std::string storage = "auto";
  std::string model = "linear";
  clean::Options options;
  std::string resume;
  std::shared_ptr<checkpoint::RunFolder> folder; ///< of a cleaning that goes on; none: it begins
  double save_every = 10.0;
  bool gave_save_every = false;
  bool gave_hidden = false;
  bool gave_device = false;
  bool as_json = false;
};

template <class Enum> Enum named(const std::string &option, const std::string &text) {
  Enum value{};
  if (!catalog::read_field(text, value)) {
    std::vector<std::string> known;
    for (const auto name : names_of(Enum{})) {
      known.emplace_back(name);
    }
    throw InvalidInput(names::unknown_name("--" + option, text, known));
  }
  return value;
}

struct Input {
  Dataset training;
  Dataset trusted;
  std::optional<Dataset> test;
  std::vector<bool> wrong; ///< where it is known
};

/// Every file that is read is an input of the run.
data::ReadOptions reading_into(checkpoint::RunFolder &folder) {
  return {
      .opened = [&folder](const std::filesystem::path &file) { folder.add_input(file); },
  };
}

Dataset read(const std::string &file, const CleanArguments &arguments, const std::string &labels_file,
             bool expect_labels, Index columns) {
  StatusLine status;
  data::ReadOptions options = reading_into(*arguments.folder);
  options.label = arguments.label;
  options.id = arguments.id;
  options.labels_file = labels_file;
  options.expect_labels = expect_labels;
  options.columns = columns;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    status.show(total > 0 ? fmt::format("reading {}: {:.0f} %", file,
                                        100.0 * static_cast<double>(done) / static_cast<double>(total))
                          : fmt::format("reading {}: {:.0f} MB", file, static_cast<double>(done) / 1e6));
  };
  return data::read_dataset(file, options);
}

Input read_files(const CleanArguments &arguments) {
  for (const auto &[option, value] : {std::pair{"--train", &arguments.train}, {"--trusted", &arguments.trusted}}) {
    if (value->empty()) {
      throw InvalidInput(fmt::format("{} FILE is needed, or --demo fashion-mnist", option));
    }
  }
  Input input{read(arguments.train, arguments, arguments.train_labels, true, 0), {}, {}, {}};
  const Index columns = input.training.features.columns();
  input.trusted = read(arguments.trusted, arguments, arguments.trusted_labels, true, columns);
  data::require_same_features(input.training, input.trusted);
  data::map_labels_onto(input.training, input.trusted);
  if (!arguments.test.empty()) {
    input.test = read(arguments.test, arguments, arguments.test_labels, false, columns);
    data::require_same_features(input.training, *input.test);
    if (!input.test->labels.empty()) {
      data::map_labels_onto(input.training, *input.test);
    }
  }
  return input;
}

Input read_demo(const CleanArguments &arguments) {
  auto demo = data::make_demo({.set = named<data::DemoSet>("demo", arguments.demo),
                               .folder = arguments.data_dir,
                               .training = arguments.samples,
                               .trusted = arguments.trusted_samples,
                               .noise = {.fraction = arguments.noise,
                                         .kind = named<data::NoiseKind>("noise-kind", arguments.noise_kind),
                                         .seed = arguments.options.seed},
                               .reading = reading_into(*arguments.folder)});
  auto wrong = demo.wrong();
  return {std::move(demo.training), std::move(demo.trusted), std::move(demo.test), std::move(wrong)};
}

Json settings_json(const CleanArguments &arguments) {
  Json json{{"train", arguments.train},
            {"trusted", arguments.trusted},
            {"test", arguments.test},
            {"label", arguments.label},
            {"id", arguments.id}};
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
  json["seed"] = arguments.options.seed;
  json["steps"] = arguments.options.most_steps;
  json["rounds"] = arguments.options.rounds;
  json["threshold"] = arguments.options.threshold;
  json["storage"] = arguments.storage;
  json["threads"] = arguments.options.threads;
  return json;
}

void warn_of_classes_without_trust(const Input &input) {
  std::vector<std::string> missing;
  for (std::uint32_t k = 0; k < input.training.label_names.size(); ++k) {
    if (std::find(input.trusted.labels.begin(), input.trusted.labels.end(), k) == input.trusted.labels.end()) {
      missing.push_back(report::elided(input.training.label_names[k], 30));
    }
  }
  constexpr std::size_t most = 10;
  if (!missing.empty()) {
    const std::size_t more = missing.size() - std::min(missing.size(), most);
    missing.resize(std::min(missing.size(), most));
    (void)std::fputs(
        fmt::format("duplex: no trusted row is of class {}{}: labels of that class are mostly taken as they "
                    "are\n",
                    fmt::join(missing, ", "), more > 0 ? fmt::format(" and {} more", more) : "")
            .c_str(),
        stderr);
  }
}

clean::Result run(clean::Options options, clean::Journal &journal, const clean::Prepared &prepared) {
  options.journal = &journal;
  StatusLine status;
  const Index rows = prepared.training.features->rows();
  return clean::clean(prepared.training, prepared.trusted, prepared.classes, options, [&](const clean::Look &look) {
    const double per_step = look.seconds / static_cast<double>(look.steps_in_all);
    const auto left = static_cast<double>(options.most_steps - look.step + (look.run == 0 ? options.most_steps : 0));
    status.show(fmt::format("half {} of 2, step {}: held-out loss {:.4f}, {} of {} suspected, at most {} left",
                            look.run + 1, look.step, look.held_out_loss, look.suspects, rows / 2,
                            duration_text(per_step * left)));
  });
}

/// With checkpoints in the folder; Ctrl-C leaves one.
clean::Result run_with_checkpoints(const CleanArguments &arguments, const clean::Prepared &prepared,
                                   const SavedState *before) {
  auto &folder = *arguments.folder;
  clean::Journal journal([&](const SavedState &pieces) { folder.save(pieces); }, arguments.save_every, before);
  try {
    return run(arguments.options, journal, prepared);
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
  return clean::TestScores{.model = clean::accuracy(predictions, test->labels),
                           .trusted_only = clean::accuracy(clean::predict(outcome.trusted_only, *test), test->labels),
                           .rows = test->labels.size()};
}

void print_summary(const clean::Outcome &outcome, const Dataset &training,
                   const std::optional<clean::TestScores> &test) {
  const std::size_t rows = training.labels.size();
  fmt::print("{} of {} labels look wrong ({:.1f} %)\n", outcome.suspects.size(), rows,
             100.0 * static_cast<double>(outcome.suspects.size()) / static_cast<double>(rows));
  const bool has_ids = !training.ids.empty();
  report::Table table({"worst suspects", has_ids ? "id" : "", "given", "suggested", "trust"});
  constexpr std::size_t shown = 8;
  constexpr std::size_t widest = 30;
  for (std::size_t place = 0; place < std::min(shown, outcome.suspects.size()); ++place) {
    const Index row = outcome.suspects[place];
    const auto i = static_cast<std::size_t>(row);
    table.add({fmt::format("row {}", row + 1), training.ids.empty() ? "" : report::elided(training.ids[i], widest),
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
    fmt::print("test accuracy: {:.2f} % (trusted rows alone: {:.2f} %)\n", 100.0 * test->model,
               100.0 * test->trusted_only);
  }
  const auto &timings = outcome.result.timings;
  fmt::print("time: {} (bilevel runs {}, {} + {} steps)\n", duration_text(timings.total()),
             duration_text(timings.bilevel), outcome.result.steps[0], outcome.result.steps[1]);
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

/// Of a cleaning that was told all it needs, in its folder.
int clean_in_folder(const CleanArguments &arguments, clean::KeptAs kept_as, const SavedState *before) {
  Stopwatch reading;
  reading.start();
  Input input = arguments.demo.empty() ? read_files(arguments) : read_demo(arguments);
  reading.pause();

  const Interruptible interruptible; // until here there is nothing to keep, and an earlier run is untouched
  if (before == nullptr) {
    arguments.folder->begin("clean", own_arguments());
  }
  warn_of_classes_without_trust(input);
  const auto prepared = clean::prepare(input.training, input.trusted, kept_as, arguments.options.seed);
  auto outcome = clean::outcome_of(run_with_checkpoints(arguments, prepared, before), prepared, input.training);
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
  summary["scaling"] = prepared.scaling.kind;
  summary["stored_bytes_per_feature"] = bytes_of(prepared.training.features->storage());
  if (test) {
    summary["test"] = {{"rows", test->rows}, {"accuracy", test->model}, {"trusted_only_accuracy", test->trusted_only}};
  }
  const std::string text = report::json_text(summary, 2) + "\n";
  auto files = clean::model_files(outcome.model);
  files.push_back({"suspects.csv", clean::suspects_csv(outcome, input.training)});
  files.push_back({"weights.csv", clean::weights_csv(outcome, input.training)});
  files.push_back({"summary.json", text});
  if (!predictions.empty()) {
    files.push_back({"predictions.csv", std::move(predictions)});
  }
  if (report::html_available()) {
    files.push_back({"report.html", report::html_page(clean::report_json({.outcome = outcome,
                                                                          .prepared = prepared,
                                                                          .training = input.training,
                                                                          .test = test,
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
  constexpr double next_to_nothing = 0.02;
  if (outcome.result.skill < next_to_nothing) {
    fmt::print("the trusted rows tell next to nothing about the labels here: do not rely on these suspects\n");
  }
  fmt::print("\nwritten to {}: suspects.csv, weights.csv, model.json, model.npy{}, summary.json{}\n", arguments.out,
             outcome.model.hidden > 0 ? ", model-hidden.npy" : "", input.test ? ", predictions.csv" : "");
  if (report::html_available()) {
    fmt::print("report: {}\n", (std::filesystem::path(arguments.out) / "report.html").string());
  } else {
    fmt::print("no report.html: {}\n", report::html_unavailable_reason);
  }
  return exit_success;
}

int clean_labels(const CleanArguments &arguments, const std::vector<std::string> &more,
                 const std::vector<std::string> &own_options) {
  CleanArguments chosen = arguments;
  if (!more.empty() || !arguments.options.solver.empty()) {
    chosen.options.solver =
        solver_spec(arguments.options.solver.empty() ? "bagdc" : arguments.options.solver, more, own_options);
  }
  chosen.options.model = named<clean::ModelKind>("model", chosen.model);
  refuse_unused_options(chosen);
  if (chosen.options.model == clean::ModelKind::mlp) {
    clean::require_network_device(chosen.options.device);
  }
  const auto kept_as = named<clean::KeptAs>("storage", chosen.storage);
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

void add_options(CLI::App &app, Action &chosen, std::shared_ptr<checkpoint::RunFolder> folder);

/// As the cleaning in the folder was told, where it was told.
int go_on(const CleanArguments &arguments) {
  auto folder = std::make_shared<checkpoint::RunFolder>(arguments.resume, checkpoint::RunFolder::Opening::existing);
  folder->find("clean");
  auto tokens = folder->manifest().arguments;
  tokens.insert(tokens.end(), {"--out", arguments.resume});
  if (arguments.gave_save_every) { // otherwise as often as before
    tokens.insert(tokens.end(), {"--save-every", number_text(arguments.save_every)});
  }
  if (arguments.as_json) {
    tokens.emplace_back("--json");
  }
  CLI::App app;
  Action again;
  add_options(app, again, folder);
  std::reverse(tokens.begin(), tokens.end()); // as CLI11 takes them
  try {
    app.parse(tokens);
  } catch (const CLI::Error &error) {
    throw InvalidInput(fmt::format("{}: its arguments are not those of a cleaning: {}",
                                   (folder->path() / checkpoint::manifest_name).string(), error.what()));
  }
  return again();
}

/// A cleaning that goes on is told what it was told.
void refuse_beside_resume(const CLI::App &command) {
  for (const auto *option : command.get_options()) {
    const auto name = option->get_name();
    if (option->count() > 0 && name != "--resume" && name != "--json" && name != "--save-every") {
      throw InvalidInput(name + " cannot change when a cleaning goes on; --json and --save-every can");
    }
  }
  if (!command.remaining().empty()) {
    throw InvalidInput(command.remaining().front() + " cannot change when a cleaning goes on");
  }
}

void add_options(CLI::App &app, Action &chosen, std::shared_ptr<checkpoint::RunFolder> folder) {
  auto *command = app.add_subcommand("clean", "Find wrong labels by means of a few rows that can be trusted");
  auto arguments = std::make_shared<CleanArguments>();
  arguments->folder = std::move(folder);
  auto *train =
      command->add_option("--train", arguments->train, "Rows with partly wrong labels: CSV, .npy, LIBSVM or IDX");
  auto *trusted = command->add_option("--trusted", arguments->trusted, "Rows whose labels are right")->needs(train);
  auto *test = command->add_option("--test", arguments->test, "Rows to predict, and to score where they have labels");
  test->needs(train);
  command->add_option("--train-labels", arguments->train_labels, "Labels of --train where it is .npy or IDX")
      ->needs(train);
  command->add_option("--trusted-labels", arguments->trusted_labels, "Labels of --trusted, alike")->needs(trusted);
  command->add_option("--test-labels", arguments->test_labels, "Labels of --test, alike")->needs(test);
  command->add_option("--label", arguments->label, "Column of the label, by name or number (CSV)")->needs(train);
  command->add_option("--id", arguments->id, "Column that names a row, by name or number (CSV)")->needs(train);
  auto *out = command->add_option("--out", arguments->out, "Folder of the results");
  out->capture_default_str()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  auto *demo =
      command->add_option("--demo", arguments->demo, "fashion-mnist or mnist, with labels made wrong on purpose");
  demo->excludes(train);
  command->add_option("--data-dir", arguments->data_dir, "Demo: folder of the IDX files")->needs(demo);
  add_number(*command, "--noise", arguments->noise, Bound{.low = 0.0, .high = 1.0},
             "Demo: part of the labels to change")
      ->needs(demo);
  command->add_option("--noise-kind", arguments->noise_kind, "Demo: uniform, always-wrong or pair")
      ->capture_default_str()
      ->needs(demo);
  constexpr double most_samples = 49'000; // of 60 000, with 10 000 for the test and some to trust
  add_number(*command, "--samples", arguments->samples, Bound{.low = 2, .high = most_samples}, "Demo: training rows")
      ->needs(demo);
  add_number(*command, "--trusted-samples", arguments->trusted_samples, Bound{.low = 1, .high = most_samples},
             "Demo: trusted rows")
      ->needs(demo);
  auto *model = command->add_option("--model", arguments->model,
                                    "linear: softmax regression; mlp: a network with one hidden layer, on LibTorch");
  model->capture_default_str();
  auto *hidden = add_number(*command, "--hidden", arguments->options.hidden,
                            Bound{.low = 1, .high = static_cast<double>(clean::most_hidden)},
                            "Network: units of the hidden layer");
  hidden->needs(model);
  auto *device = command->add_option("--device", arguments->options.device, "Network: cpu, cuda or cuda:N");
  device->capture_default_str()->needs(model);
  add_number(*command, "--seed", arguments->options.seed, non_negative, "Seed of everything that is random");
  command
      ->add_option("--storage", arguments->storage,
                   "auto, float32 or float16: how features that are not bytes are kept in memory")
      ->capture_default_str();
  add_number(*command, "--threads", arguments->options.threads, Bound{.low = 0, .high = 1024},
             "0: as many as are useful");
  command->add_option("--solver", arguments->options.solver, "Bilevel solver, as NAME or NAME:option=value:...");
  add_number(*command, "--steps", arguments->options.most_steps, Bound{.low = 1, .high = 1e6},
             "Most steps of each bilevel run");
  add_number(*command, "--rounds", arguments->options.rounds, Bound{.low = 0, .high = 1000},
             "Most rounds of refitting");
  add_number(*command, "--threshold", arguments->options.threshold, Bound{.low = 0.0, .high = 1.0},
             "Rows of less trust are suspects (0: as many as are expected to give the best F1)");
  add_number(*command, "--save-every", arguments->save_every, non_negative,
             "Least seconds between checkpoints, which are written when a fit is done and while a bilevel run goes on")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->add_option("--resume", arguments->resume,
                      "Go on with the cleaning that was killed or interrupted in this folder");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer(
      "Further options go to the solver, such as --alpha 0.05 (`duplex list` shows them); without any, the\n"
      "steps are chosen from the data. Writes suspects.csv (worst first), weights.csv, the model, and\n"
      "report.html, which opens in any browser. docs/commands/clean.md says how it works.");
  command->callback([command, arguments, hidden, device, &chosen] {
    arguments->gave_hidden = hidden->count() > 0;
    arguments->gave_save_every = command->count("--save-every") > 0;
    arguments->gave_device = device->count() > 0;
    chosen = [command, arguments] {
      std::vector<std::string> own_options;
      for (const auto *option : command->get_options()) {
        own_options.push_back(option->get_single_name());
      }
      return clean_labels(*arguments, command->remaining(), own_options);
    };
    if (!arguments->resume.empty()) {
      if (arguments->folder) {
        throw InvalidInput("--resume is not among what a cleaning that goes on was told");
      }
      refuse_beside_resume(*command);
      chosen = [arguments] { return go_on(*arguments); };
      return;
    }
    if (arguments->model == clean::model_kind_names[static_cast<std::size_t>(clean::ModelKind::mlp)]) {
      chosen = needing_torch(chosen, "clean --model mlp");
    }
  });
}

} // namespace

void add_clean(CLI::App &app, Action &chosen) { add_options(app, chosen, nullptr); }

} // namespace duplex::cli
