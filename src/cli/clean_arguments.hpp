#pragma once
// What `duplex clean` is told.

#include "catalog/options.hpp"
#include "checkpoint/run_folder.hpp"
#include "clean/cleaning.hpp"
#include "names/suggest.hpp"

#include <duplex/core/error.hpp>

#include <memory>
#include <string>
#include <vector>

namespace duplex::cli {

struct CleanArguments {
  std::string train;
  std::string trusted;
  std::string test;
  std::string train_labels;
  std::string trusted_labels;
  std::string test_labels;
  std::string label;
  std::string id;
  std::string source;
  std::string trusted_column;
  std::string drop; ///< names with commas between them, as in keep
  std::string keep;
  std::string pred_probs; ///< files of probabilities
  std::string trusted_pred_probs;
  std::string write = "flag";
  bool gave_write = false;
  std::string out = "cleaned";
  std::string demo;
  std::string data_dir;
  double noise = 0.5;
  std::string noise_kind = "uniform";
  Index samples = 5000;
  Index trusted_samples = 500;
  std::string storage = "auto";
  std::string model = "auto";
  clean::Options options;
  std::string resume;
  std::shared_ptr<checkpoint::RunFolder> folder; ///< of a cleaning that goes on; none: it begins
  double save_every = 10.0;
  bool gave_save_every = false;
  bool gave_hidden = false;
  bool gave_device = false;
  bool as_json = false;
};

/// The choice that the option's text names. Throws InvalidInput with those that there are.
template <class Enum> Enum named(const std::string &option, const std::string &text) {
  return catalog::named<Enum>("--" + option, text);
}

/// Cleans as it was told; `more` are options of the solver, `own_options` those of the command.
int clean_labels(const CleanArguments &arguments, const std::vector<std::string> &more,
                 const std::vector<std::string> &own_options);

} // namespace duplex::cli
