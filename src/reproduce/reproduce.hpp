#pragma once
// The paper's numerical section by command. One figure, one file.

#include "experiment/experiment.hpp"

#include <duplex/core/fields.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::reproduce {

using experiment::Experiment;
using experiment::Series;

struct Settings {
  std::uint64_t seed = 0;
  double time_limit = 10.0;
  Index largest_identity = 1'000'000;
  Index largest_dense = 4096;
  std::int64_t problems = 120;
  Index cleaning_samples = 5000;
  std::int64_t seeds = 3;
  double search_limit = 8.0;
  Index scale_samples = 1'000'000;
  std::string fashion_mnist;
  std::string mnist;
  std::string device = "auto";
  double few_shot_limit = 60.0;
  std::int64_t automatic_problems = 500;
  std::int64_t claim_problems = 1000;
  std::string only;
  std::int64_t starts = 10;
  std::string ijcnn1;
  std::string data_dir;
  std::string export_to;
  std::string rivals;
  bool quick = false; ///< clean-anywhere: few rows of two tables
  const std::atomic<bool> *interrupt = nullptr;
  std::function<void(const std::string &)> tell; ///< how far it is, where someone listens

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("seed", self.seed, non_negative, "seed of everything that is random");
    visit("time-limit", self.time_limit, finite_positive, "fig3: most seconds for each run");
    visit("largest-identity", self.largest_identity, Bound{.low = 100}, "fig3: largest dimension shown with A = I");
    visit("largest-dense", self.largest_dense, Bound{.low = 128}, "fig3: largest dimension shown with a dense A");
    visit("problems", self.problems, at_least_one, "rates: random problems to check");
    visit("cleaning-samples", self.cleaning_samples, Bound{.low = 100, .high = 15000},
          "fig5, table1-cleaning, clean-quality, checkpoints: training samples (twice as many for the test)");
    visit("seeds", self.seeds, at_least_one,
          "table1-cleaning, clean-quality, clean-anywhere, benchmark: splits of the data; table1-fewshot: runs");
    visit("search-limit", self.search_limit, finite_positive, "fig5, table1-cleaning: most seconds of a run");
    visit("scale-samples", self.scale_samples, Bound{.low = 10000}, "clean-scale: the larger number of samples");
    visit("fashion-mnist", self.fashion_mnist, any_number, "folder of FashionMNIST's IDX files (empty: the usual one)");
    visit("mnist", self.mnist, any_number, "folder of MNIST's IDX files (empty: data/mnist)");
    visit("device", self.device, any_number, "table1-fewshot: cpu, cuda or auto");
    visit("few-shot-limit", self.few_shot_limit, finite_positive, "table1-fewshot: most seconds of training of a run");
    visit("automatic-problems", self.automatic_problems, at_least_one, "autosteps: random problems to solve");
    visit("claim-problems", self.claim_problems, at_least_one, "claims: random problems of each family");
    visit("only", self.only, any_number,
          "zoo: families, clean-anywhere: tables, benchmark: tasks with this in their name (empty: all)");
    visit("starts", self.starts, Bound{.low = 1, .high = 10}, "zoo: starts of each family; ijcnn1: starts");
    visit("ijcnn1", self.ijcnn1, any_number, "ijcnn1, benchmark: ijcnn1's training rows, in LIBSVM's format");
    visit("data-dir", self.data_dir, any_number, "clean-anywhere: folder of its tables (empty: data/tables)");
    visit("export", self.export_to, any_number,
          "clean-anywhere: folder for its tables with their wrong labels, for other tools; nothing is cleaned then");
    visit("rivals", self.rivals, any_number, "clean-anywhere: what other tools reached on them, as a CSV file");
  }

  void told(const std::string &text) const {
    if (tell) {
      tell(text);
    }
  }
  [[nodiscard]] bool interrupted() const { return interrupt != nullptr && interrupt->load(); }
};

[[nodiscard]] experiment::Experiment fig1(const Settings &settings);
[[nodiscard]] experiment::Experiment fig2(const Settings &settings);
[[nodiscard]] experiment::Experiment fig3(const Settings &settings);
[[nodiscard]] experiment::Experiment fig4(const Settings &settings);
[[nodiscard]] experiment::Experiment rates(const Settings &settings);
[[nodiscard]] experiment::Experiment fig5(const Settings &settings);
[[nodiscard]] experiment::Experiment table1_cleaning(const Settings &settings);
[[nodiscard]] experiment::Experiment table1_few_shot(const Settings &settings);
[[nodiscard]] experiment::Experiment clean_quality(const Settings &settings);
[[nodiscard]] experiment::Experiment clean_anywhere(const Settings &settings);
[[nodiscard]] experiment::Experiment clean_scale(const Settings &settings);
[[nodiscard]] experiment::Experiment autosteps(const Settings &settings);
[[nodiscard]] experiment::Experiment sabotage(const Settings &settings);
[[nodiscard]] experiment::Experiment checkpoints(const Settings &settings);
[[nodiscard]] experiment::Experiment claims(const Settings &settings);
[[nodiscard]] experiment::Experiment zoo(const Settings &settings);
[[nodiscard]] experiment::Experiment limits(const Settings &settings);
[[nodiscard]] experiment::Experiment ijcnn1(const Settings &settings);
[[nodiscard]] experiment::Experiment benchmark(const Settings &settings);

struct Entry {
  std::string_view name;
  std::string_view title;
  experiment::Experiment (*run)(const Settings &settings);
  bool needs_torch = false;
  bool needs_file = false; ///< that only the caller has: not one of `all`
};

inline constexpr std::array<Entry, 19> entries{{
    {"fig1", "Figure 1: the effect of the dual correction under different steps of the multiplier", fig1},
    {"fig2", "Figure 2: how accurately the lower level is solved, against BAGDC's single step", fig2},
    {"fig3", "Figure 3: time over dimension, and the largest dimension within a time limit", fig3},
    {"fig4", "Figure 4: a lower level with many minimizers, and where each method ends", fig4},
    {"rates", "Theorems 3.1 to 3.3: descent of the Lyapunov value and rates of convergence", rates},
    {"fig5", "Figure 5: hyper-cleaning, loss on trusted and accuracy on test samples over time", fig5},
    {"table1-cleaning", "Table 1, left: hyper-cleaning, time and F1 at 81 % test accuracy", table1_cleaning},
    {"table1-fewshot", "Table 1, right: few-shot learning, time to an accuracy on held-out classes", table1_few_shot,
     true},
    {"clean-quality", "duplex clean, untuned, against what one would do instead", clean_quality},
    {"clean-anywhere", "duplex clean on tables and texts of many kinds, with labels wrong in five ways", clean_anywhere,
     false, true},
    {"clean-scale", "Cleaning at size: time per step and peak memory over the number of samples", clean_scale},
    {"autosteps", "BAGDC without a step size, against the best constant steps of each problem", autosteps},
    {"sabotage", "Runs that are made to go wrong: each recovers, or says why it cannot", sabotage},
    {"claims", "What runs say of themselves, checked in quadruple precision", claims},
    {"zoo", "Problems that people have, beside what one would write oneself", zoo},
    {"limits", "Products of runs without steps, beside MINRES on the KKT system and methods with steps", limits},
    {"ijcnn1", "The field's benchmark of penalties: a verified solution from each of ten starts", ijcnn1, false, true},
    {"benchmark", "The field's benchmark: every method on its tasks, steps searched for alike", benchmark, false, true},
    {"checkpoints", "What saving a hyper-cleaning run costs beside its steps", checkpoints},
}};

[[nodiscard]] constexpr std::string_view title_of(std::string_view name) {
  for (const auto &entry : entries) {
    if (entry.name == name) {
      return entry.title;
    }
  }
  return name;
}

} // namespace duplex::reproduce
