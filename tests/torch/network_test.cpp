// `duplex clean --model mlp`: refusals first, then two classes of which one surrounds the other, so that no straight
// line tells them apart.

#include "tool.hpp"
#include "torch_support.hpp"

#include "clean/journal.hpp"
#include "clean/linear.hpp"
#include "clean/outcome.hpp"
#include "clean/subsets.hpp"
#include "clean/torch/loss.hpp"

#include <fmt/format.h>

#include <ATen/Context.h>

#include <iostream>
#include <numeric>

namespace duplex::testing {
namespace {

using test::expect_refused;
using test::run_tool;
using test::ScratchFolder;

struct Rings {
  data::Dataset dataset;
  std::vector<bool> wrong;
};

/// A disc and a ring around it, far from the origin; every `wrong_every`-th label is exchanged.
Rings rings(int rows, int wrong_every, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform;
  Rings out;
  out.dataset.source = "rings";
  out.dataset.features = FeatureTable(Storage::float32, 2);
  out.dataset.label_names = {"disc", "ring"};
  for (int i = 0; i < rows; ++i) {
    const auto truth = static_cast<std::uint32_t>(i % 2);
    const double radius = truth == 0 ? uniform(generator) : 1.5 + uniform(generator);
    const double angle = 6.2831853 * uniform(generator);
    const std::array<float, 2> place{static_cast<float>(50.0 + radius * std::cos(angle)),
                                     static_cast<float>(radius * std::sin(angle))};
    out.dataset.features.append(std::span<const float>(place));
    out.wrong.push_back(wrong_every > 0 && i % wrong_every == 0);
    out.dataset.labels.push_back(out.wrong.back() ? 1 - truth : truth);
  }
  return out;
}

std::string csv_of(const data::Dataset &dataset) {
  std::string csv = "a,b,label\n";
  for (Index i = 0; i < dataset.features.rows(); ++i) {
    csv += fmt::format("{},{},{}\n", dataset.features.value(i, 0), dataset.features.value(i, 1),
                       dataset.label_names[dataset.labels[static_cast<std::size_t>(i)]]);
  }
  return csv;
}

class NetworkCleaning : public ::testing::Test {
protected:
  Rings noisy = rings(600, 5, 1);
  Rings trusted = rings(60, 0, 2);
  Rings test = rings(300, 0, 3);
  clean::Prepared prepared = clean::prepare(noisy.dataset, trusted.dataset, clean::KeptAs::automatic, 0);

  [[nodiscard]] clean::NetworkSettings settings(Index hidden = 32, const std::string &device = "cpu") const {
    return {.features = 2,
            .hidden = hidden,
            .classes = 2,
            .unit = clean::mean_squared_length(*prepared.training.features),
            .device = device};
  }
  [[nodiscard]] clean::Outcome outcome_with(std::shared_ptr<const clean::Classifier> classifier,
                                            const clean::Options &options = {}) const {
    return clean::outcome_of(clean::clean(std::move(classifier), prepared.training, prepared.trusted, 2, options),
                             prepared, noisy.dataset);
  }
  [[nodiscard]] double f1_of(const clean::Outcome &outcome) const {
    return clean::quality_of(outcome.result.trust, outcome.result.suspect_below, noisy.wrong).f1;
  }
};

TEST_F(NetworkCleaning, RefusesADeviceThatIsNotThere) {
  EXPECT_CONTAINS(refusal([&] { (void)clean::make_network(settings(8, "tpu")); }), "expected cpu, cuda or cuda:N");
  if (!at::hasCUDA()) {
    EXPECT_CONTAINS(refusal([&] { clean::require_network_device("cuda"); }), "no CUDA device here");
  }
}

TEST_F(NetworkCleaning, HearsAnInterruptBeforeEachBlockOfRows) {
  const std::atomic<bool> interrupt{true};
  auto with_interrupt = settings(8);
  with_interrupt.interrupt = &interrupt;
  const std::shared_ptr<const clean::Classifier> classifier = clean::make_network(with_interrupt);
  const clean::Vector untrained = classifier->untrained();
  clean::Vector model = untrained;
  const std::vector<clean::WeightedSamples> parts{
      {.samples = prepared.training, .weights = clean::Vector::Ones(prepared.training.features->rows())}};
  EXPECT_EQ(refusal<Interrupted>(
                [&] { classifier->fit(parts, {.rho = 1e-3, .iterations = 5, .interrupt = &interrupt}, model); }),
            "interrupted");
  EXPECT_TRUE(same_bits(model, untrained));
  EXPECT_EQ(refusal<Interrupted>([&] { (void)classifier->log_probabilities(prepared.training, model); }),
            "interrupted");
}

TEST_F(NetworkCleaning, EndsWhereItIsInterrupted) {
  std::atomic<bool> interrupt{false};
  int told = 0;
  const clean::Options options{.interrupt = &interrupt, .tell = [&](const std::string &) { interrupt = ++told == 3; }};
  EXPECT_EQ(refusal<Interrupted>([&] { (void)outcome_with(clean::make_network(settings(8)), options); }),
            "interrupted");
  EXPECT_EQ(told, 3);
}

/// −log Σ_k p_k P(label | k), by hand; that of certain labels is their cross-entropy.
TEST_F(NetworkCleaning, LosesWhatItsLabelsTellOfItsProbabilities) {
  const auto classifier = clean::make_network(settings(5));
  const auto samples = clean::slice(prepared.training, 0, 7);
  const auto layers = clean::layers_of(classifier->untrained(), settings(5), at::kCPU);
  auto rows = clean::network_samples(samples, 2, at::kCPU);
  const clean::Matrix log_p = classifier->log_probabilities(samples, classifier->untrained());
  const clean::Matrix certain = clean::matrix_of(clean::losses_of(layers.list(), rows).unsqueeze(1));
  clean::Matrix told(7, 2);
  for (Index i = 0; i < 7; ++i) {
    EXPECT_NEAR(certain(i, 0), -log_p(i, (*samples.labels)[static_cast<std::size_t>(i)]), 1e-5F);
    told(i, 0) = 0.3F;
    told(i, 1) = 0.6F;
  }
  rows.likelihoods = clean::tensor_of(told, at::kCPU);
  const clean::Matrix losses = clean::matrix_of(clean::losses_of(layers.list(), rows).unsqueeze(1));
  for (Index i = 0; i < 7; ++i) {
    EXPECT_NEAR(losses(i, 0), -std::log(0.3F * std::exp(log_p(i, 0)) + 0.6F * std::exp(log_p(i, 1))), 1e-5F);
  }
}

TEST_F(NetworkCleaning, FindsWhatNoLinearModelCan) {
  const auto network = outcome_with(clean::make_network(settings()));
  const auto linear =
      outcome_with(clean::make_linear(2, 2, clean::mean_squared_length(*prepared.training.features), 0));
  EXPECT_GE(f1_of(network), 0.97);
  EXPECT_GE(f1_of(network), f1_of(linear) + 0.05);
  EXPECT_GE(clean::accuracy(clean::predict(network.model, test.dataset), test.dataset.labels), 0.97);
  EXPECT_LE(clean::accuracy(clean::predict(linear.model, test.dataset), test.dataset.labels), 0.8);
}

using NetworkCleaningOnDevice = NetworkCleaning;

TEST_F(NetworkCleaningOnDevice, FindsItToo) {
  if (!at::hasCUDA()) {
    std::cout << "skipped: no CUDA device\n";
    return;
  }
  EXPECT_GE(f1_of(outcome_with(clean::make_network(settings(32, "cuda")))), 0.97);
}

TEST_F(NetworkCleaning, GivesTheSameBitsForTheSameSeed) {
  const clean::Options few{.rounds = 1};
  const auto first = outcome_with(clean::make_network(settings(8)), few);
  const auto second = outcome_with(clean::make_network(settings(8)), few);
  EXPECT_TRUE(same_bits(first.result.model.parameters, second.result.model.parameters));
  EXPECT_TRUE(same_bits(first.result.trust, second.result.trust));
  auto other = settings(8);
  other.seed = 1;
  EXPECT_FALSE(
      same_bits(outcome_with(clean::make_network(other), few).result.model.parameters, first.result.model.parameters));
}

TEST_F(NetworkCleaning, GoesOnFromEveryFit) {
  const clean::Options plain{.rounds = 1};
  const auto whole = outcome_with(clean::make_network(settings(8)), plain);
  std::vector<SavedState> saves;
  clean::Journal journal([&](const SavedState &state) { saves.push_back(state); }, 0.0);
  clean::Options noted = plain;
  noted.journal = &journal;
  (void)outcome_with(clean::make_network(settings(8)), noted);
  ASSERT_GT(saves.size(), 10U);
  for (std::size_t i = 0; i < saves.size(); i += 1 + saves.size() / 5) {
    clean::Journal rest([](const SavedState &) {}, 1000.0, &saves[i]);
    clean::Options resuming = plain;
    resuming.journal = &rest;
    const auto resumed = outcome_with(clean::make_network(settings(8)), resuming);
    EXPECT_TRUE(same_bits(resumed.result.model.parameters, whole.result.model.parameters));
    EXPECT_TRUE(same_bits(resumed.result.trust, whole.result.trust));
  }
}

TEST_F(NetworkCleaning, PredictsFromItsFilesAsInMemory) {
  const std::shared_ptr<const clean::Classifier> classifier = clean::make_network(settings());
  const auto outcome = outcome_with(classifier, {.rounds = 1});
  const ScratchFolder scratch;
  for (const auto &file : clean::model_files(outcome.model)) {
    (void)scratch.file(file.name, file.content);
  }
  const auto model = clean::read_model(scratch.path());
  EXPECT_EQ(model.hidden, 32);
  const auto from_files = clean::predict(model, test.dataset);
  FeatureTable scaled = test.dataset.features.gather([] {
    std::vector<Index> rows(300);
    std::iota(rows.begin(), rows.end(), Index{0});
    return rows;
  }());
  clean::apply(prepared.scaling, scaled);
  const LabelledSamples samples{std::make_shared<const FeatureTable>(std::move(scaled)),
                                std::make_shared<const std::vector<std::uint32_t>>(test.dataset.labels)};
  const clean::Matrix log_p = classifier->log_probabilities(samples, outcome.result.model.parameters);
  for (Index i = 0; i < log_p.rows(); ++i) {
    const auto &prediction = from_files[static_cast<std::size_t>(i)];
    EXPECT_NEAR(prediction.probability, std::exp(log_p(i, prediction.label)), 1e-4);
  }
}

TEST_F(NetworkCleaning, GoesThroughTheTool) {
  const ScratchFolder scratch;
  const auto again = rings(600, 5, 1);
  const auto train = scratch.file("train.csv", csv_of(again.dataset));
  const auto sure = scratch.file("trusted.csv", csv_of(rings(60, 0, 2).dataset));
  const auto unseen = scratch.file("test.csv", csv_of(test.dataset));
  const auto out = (scratch.path() / "out").string();
  const auto command = fmt::format("clean --train {} --trusted {} --test {} --out {}", train, sure, unseen, out);
  if (!at::hasCUDA()) {
    expect_refused(command + " --model mlp --device cuda", {"device = 'cuda'", "no CUDA device here"});
  }
  expect_refused(command + " --model mlp --device gpu", {"device = 'gpu'", "expected cpu, cuda or cuda:N"});
  const auto run = run_tool(command + " --model mlp --hidden 20 --threads 1");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto summary = test::read_json(scratch.path() / "out" / "summary.json");
  EXPECT_EQ(summary["settings"]["model"], "mlp");
  EXPECT_EQ(summary["settings"]["hidden"], 20);
  EXPECT_EQ(summary["settings"]["device"], "cpu");
  EXPECT_GE(summary["test"]["accuracy"].get<double>(), 0.97);
  const auto predictions = (scratch.path() / "again.csv").string();
  ASSERT_EQ(run_tool(fmt::format("predict --model {} --data {} --out {}", out, unseen, predictions)).exit_code, 0);
  EXPECT_EQ(test::read_file(predictions), test::read_file(scratch.path() / "out" / "predictions.csv"));
  ASSERT_EQ(run_tool(command).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "out" / "model-hidden.npy")) << "of the network before";
}

TEST_F(NetworkCleaning, GoesOnThroughTheToolInAFolderThatIsNamedRelatively) {
  const ScratchFolder scratch;
  const auto train = scratch.file("train.csv", csv_of(rings(600, 5, 1).dataset));
  const auto sure = scratch.file("trusted.csv", csv_of(rings(60, 0, 2).dataset));
  const auto out = scratch.path() / "out";
  test::RunningTool tool({"clean", "--train", train, "--trusted", sure, "--model", "mlp", "--hidden", "20", "--threads",
                          "1", "--save-every", "0", "--out", out.string()});
  ASSERT_TRUE(tool.wait_until([&] { return std::filesystem::exists(out / "checkpoint.dpx"); }));
  EXPECT_EQ(tool.end(SIGKILL), -1);
  const auto rest = test::run_command("cd " + scratch.path().string() + " && " + DUPLEX_TOOL + " clean --resume out");
  EXPECT_EQ(rest.exit_code, 0) << rest.output;
  EXPECT_TRUE(std::filesystem::exists(out / "model-hidden.npy"));
}

} // namespace
} // namespace duplex::testing
