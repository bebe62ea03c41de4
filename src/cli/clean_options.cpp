#include "clean/model_file.hpp"
#include "cli/clean_arguments.hpp"
#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/siblings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace duplex::cli {

namespace {

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
  auto *command =
      app.add_subcommand("clean", "Find wrong labels, by means of a few rows that can be trusted where there are some");
  auto arguments = std::make_shared<CleanArguments>();
  arguments->folder = std::move(folder);
  auto *train = command->add_option("--train", arguments->train,
                                    "Rows with partly wrong labels: CSV, .npy, LIBSVM or IDX; - is standard input");
  auto *trusted = command->add_option("--trusted", arguments->trusted, "Rows whose labels are right; may be left out")
                      ->needs(train);
  auto *test = command->add_option("--test", arguments->test, "Rows to predict, and to score where they have labels");
  test->needs(train);
  command->add_option("--train-labels", arguments->train_labels, "Labels of --train where it is .npy or IDX")
      ->needs(train);
  command->add_option("--trusted-labels", arguments->trusted_labels, "Labels of --trusted, alike")->needs(trusted);
  command->add_option("--test-labels", arguments->test_labels, "Labels of --test, alike")->needs(test);
  command->add_option("--label", arguments->label, "Column of the label, by name or number (CSV)")->needs(train);
  command->add_option("--id", arguments->id, "Column that names a row, by name or number (CSV)")->needs(train);
  command->add_option("--source", arguments->source, "Column that says who or what labelled a row (CSV)")->needs(train);
  command
      ->add_option("--trusted-column", arguments->trusted_column,
                   "Column of --train that is 1, true or yes where the label is right, in the place of --trusted (CSV)")
      ->needs(train)
      ->excludes(trusted);
  auto *drop = command->add_option("--drop", arguments->drop, "Columns that are no features: a,b (CSV)");
  drop->needs(train);
  auto *write = command->add_option(
      "--write", arguments->write,
      "cleaned.csv is --train with columns trust, suggested and suspect (flag), without "
      "suspects (drop), with suggested labels where trust is below one half (relabel), or not written (none)");
  write->capture_default_str();
  command->add_option("--keep", arguments->keep, "The only columns that are features: a,b (CSV)")
      ->needs(train)
      ->excludes(drop);
  auto *pred_probs = command->add_option(
      "--pred-probs", arguments->pred_probs,
      "Probabilities of the classes for the rows of --train, by models that have not seen their labels: CSV with a "
      "column for each class, or .npy with columns in the order of the classes");
  pred_probs->needs(train);
  command->add_option("--trusted-pred-probs", arguments->trusted_pred_probs, "The same for the rows of --trusted")
      ->needs(pred_probs)
      ->needs(trusted);
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
  auto *model =
      command->add_option("--model", arguments->model,
                          "auto: softmax regression on features and on a Gaussian kernel, as they fit; linear "
                          "or kernel: one of them; mlp: a network with one hidden layer, on LibTorch");
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
  command->add_option("--solver", arguments->options.solver,
                      "Bilevel solver of the sources' weights, as NAME or NAME:option=value:...");
  add_number(*command, "--steps", arguments->options.most_steps, Bound{.low = 1, .high = 1e6},
             "Most steps of the bilevel run that weighs sources");
  add_number(*command, "--rounds", arguments->options.rounds, Bound{.low = 0, .high = 1000},
             "Most rounds of refitting");
  add_number(*command, "--threshold", arguments->options.threshold, Bound{.low = 0.0, .high = 1.0},
             "Rows of less trust are suspects (0: as many as are expected to give the best F1)");
  add_number(
      *command, "--save-every", arguments->save_every, non_negative,
      "Least seconds between checkpoints, which are written when a fit is done and while the bilevel run goes on")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->add_option("--resume", arguments->resume,
                      "Go on with the cleaning that was killed or interrupted in this folder");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer(
      "Further options go to the solver, such as --alpha 0.05 (`duplex list` shows them); without any, the\n"
      "steps are chosen from the data. Writes suspects.csv (worst first), weights.csv, the model, and\n"
      "report.html, which opens in any browser. docs/commands/clean.md says how it works.");
  command->callback([command, arguments, hidden, device, write, &chosen] {
    arguments->gave_write = write->count() > 0;
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
