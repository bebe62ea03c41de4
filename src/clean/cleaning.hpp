#pragma once
// Finds wrong labels and fits a model to what can be trusted. In order:
//
// - What models see of features is chosen on some of the rows: linear ones, and ones of a Gaussian kernel (choice.hpp).
// - A model of the trusted samples alone.
// - Where labels have sources, a weight for each of them, by the bilevel engine (source_weights.hpp).
// - Models of the given labels in five folds, or three of many rows: each judges the rows that it has not seen.
// - The beliefs of all, and of others' models where there are any, pooled (pooling.hpp), from how rows are labelled to
//   what they are (anchors.hpp), and how the labels came about (label_account.hpp).
// - Rounds of both, with the loss that knows how labels come about; where the trusted model alone is about as good on
//   trusted rows, that one and rounds from it are tried too.
// - Doubts of labels near boundaries that only trusted rows can raise (disagreement.hpp).
// - The verdict: the samples that are called suspects are those for which the expected F1 is largest.
// - The final model, on all samples.

#include "clean/classifier.hpp"
#include "clean/disagreement.hpp"
#include "clean/label_account.hpp"
#include "clean/learner.hpp"
#include "clean/others_beliefs.hpp"
#include "clean/source_weights.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::clean {

class Journal;

/// What is trained: softmax regression on features, on a Gaussian kernel, on both, pooled as they fit (automatic), or a
/// network with one hidden layer (built with LibTorch only).
enum class ModelKind : std::uint8_t { automatic, linear, kernel, mlp };
inline constexpr std::array<std::string_view, 4> model_kind_names{"auto", "linear", "kernel", "mlp"};
constexpr const auto &names_of(ModelKind /*unused*/) { return model_kind_names; }

struct Options {
  ModelKind model = ModelKind::automatic;
  Index hidden = 300;         ///< units of the network's hidden layer
  std::string device = "cpu"; ///< of the network: cpu, cuda or cuda:N
  std::string solver = {};    ///< of the bilevel problem; empty: BAGDC with steps of its own choice
  std::int64_t most_steps = 150;
  std::int64_t rounds = 2;
  double threshold = 0.0; ///< samples of less trust are suspects; 0: as many as are expected to give the best F1
  std::uint64_t seed = 0;
  int threads = 0;
  bool pixels = false;        ///< features are of one unit and one range: ranks would lose what they have in common
  SourcesOfRows sources = {}; ///< of the training samples' labels, where they are known
  std::shared_ptr<const OthersBeliefs> others = {}; ///< of the samples in their order; none: there is no such voice
  const std::atomic<bool> *interrupt = nullptr;
  Journal *journal = nullptr; ///< none: nothing is written down
  /// Is told what is being done.
  std::function<void(const std::string &)> tell = {};
};

/// One look at the bilevel run.
struct Look {
  std::int64_t step = 0;
  double seconds = 0.0; ///< of solving
  double trusted_loss = 0.0;
  double held_out_loss = 0.0;
  double held_out_accuracy = 0.0;
  Index suspects = 0; ///< sources with x < 0
};

struct Timings {
  double choice = 0.0;
  double trusted_model = 0.0;
  double bilevel = 0.0;
  double rounds = 0.0;
  double final_model = 0.0;

  [[nodiscard]] double total() const { return choice + trusted_model + bilevel + rounds + final_model; }
};

/// A model, in terms of the scaled features.
struct FittedModel {
  Vector parameters;       ///< K × (D + 1), or K × (landmarks + 1); for a network see network.hpp
  Index hidden = 0;        ///< units of a hidden layer; 0: it has none
  ColumnRule columns = {}; ///< what becomes of features first
  std::shared_ptr<const FeatureTable> landmarks; ///< none: it is one of the features themselves
  double kernel_scale = 0.0;                     ///< s of exp(−‖a − b‖²/s)
};

/// How much each model's log-probabilities count.
struct Pooling {
  double linear = 0.0;
  double kernel = 0.0;
  double network = 0.0;
  double others = 0.0;
  double trusted = 0.0;
};

/// Per training sample, in the order of the samples given.
struct Result {
  Vector weight;                        ///< of its source in the first fits; one where there are no sources
  Vector trust;                         ///< P(the given label is right)
  Vector trust_before_doubts;           ///< what it was before disagreement lowered it (disagreement.hpp)
  float suspect_below = 0.5F;           ///< samples of less trust are suspects
  Vector probability;                   ///< the judging models' probability of the given label
  std::vector<std::uint32_t> suggested; ///< the given label where it is trusted, else the most probable other
  /// What the model of the trusted samples alone says; empty where there is none.
  std::vector<std::uint32_t> trusted_model_says;
  double trusted_model_confidence = 0.0;  ///< its mean largest probability on the training samples
  double trusted_model_agreement = 0.0;   ///< with trusted labels that it has not seen, beyond chance (Cohen's κ)
  std::optional<double> others_agreement; ///< of others' models with the given labels, where there are any: a part
  double own_agreement = 0.0;             ///< of the first model of the given labels, alike
  FittedModel model;
  std::optional<FittedModel> trusted_only; ///< the model of step 2, where there are trusted samples
  std::vector<std::string> seen_as;        ///< what the models see of features, for people
  LabelNoise noise;
  double wrong_by_class = 0.0; ///< parts of the labels, as in label_account.hpp
  double near_boundaries = 0.0;
  Disagreement disagreement;         ///< between given labels and what the models believe, where some rows are trusted
  double doubted = 0.0;              ///< part of the labels that are taken for wrong by that alone (disagreement.hpp)
  std::vector<double> source_weight; ///< σ(x) of each source over the largest
  std::vector<double> source_right;  ///< part of its labels that are right
  /// What the features tell of trusted labels (given ones where no more than one is trusted) that a model has not seen:
  /// 1 − its loss over that of the classes' shares alone; 0 where they tell nothing.
  double skill = 0.0;
  double rho = 0.0;
  Pooling pooling;
  std::int64_t rounds = 0;
  bool began_with_trusted = false;     ///< whether the model of the trusted rows, or rounds from it, count
  std::int64_t steps = 0;              ///< of the bilevel run
  std::int64_t best_step = 0;          ///< whose weights were kept: the lowest loss on held-out samples
  std::string ending;                  ///< why it stopped
  std::vector<std::string> recoveries; ///< where it went back, why, and with which steps it went on
  std::string solver;                  ///< with all its options, as the run began; empty where there was none
  std::vector<Look> looks;
  Timings timings;
};

/// Training samples are in an order in which any run of them is like the whole (see interleaved_order). There may be no
/// trusted samples (no features, or no rows).
/// Throws InvalidInput where the samples do not fit or there is no such device, NotAvailable where there is no LibTorch
/// for a network, Interrupted on request.
[[nodiscard]] Result clean(const LabelledSamples &training, const LabelledSamples &trusted, Index classes,
                           const Options &options, const std::function<void(const Look &)> &watch = {});

/// With a classifier of one's own, which sees features as they are.
[[nodiscard]] Result clean(std::shared_ptr<const Classifier> classifier, const LabelledSamples &training,
                           const LabelledSamples &trusted, Index classes, const Options &options,
                           const std::function<void(const Look &)> &watch = {});

} // namespace duplex::clean
