#pragma once
// Finds wrong labels and fits a model to what can be trusted. In order:
//
//   1  a model of the trusted samples alone, its penalty chosen by cross-validation;
//   2  hyper-cleaning twice, on either half of the training samples with a quarter of the trusted
//      ones held out: each run's model judges the half that it has not seen, and stops when the
//      loss on what is held out no longer falls;
//   3  the beliefs of both, pooled by weights fitted on the held-out trusted samples;
//   4  how the labels came about, from those beliefs (label_account.hpp); each label's probability of being right;
//   5  rounds of fitting a model to trusted and weighted training samples, again by halves, and of 4;
//   6  the final model, on all samples, and the verdict: the samples that are called suspects are those for which the
//      expected F1 is largest.

#include "clean/classifier.hpp"
#include "clean/label_noise.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::clean {

class Journal;

/// What is trained: softmax regression, or a network with one hidden layer (built with LibTorch only).
enum class ModelKind : std::uint8_t { linear, mlp };
inline constexpr std::array<std::string_view, 2> model_kind_names{"linear", "mlp"};
constexpr const auto &names_of(ModelKind /*unused*/) { return model_kind_names; }

struct Options {
  ModelKind model = ModelKind::linear;
  Index hidden = 300;         ///< units of the network's hidden layer
  std::string device = "cpu"; ///< of the network: cpu, cuda or cuda:N
  std::string solver = {};    ///< of the bilevel problem; empty: BAGDC with steps of its own choice
  std::int64_t most_steps = 150;
  std::int64_t rounds = 4;
  double threshold = 0.0; ///< samples of less trust are suspects; 0: as many as are expected to give the best F1
  std::uint64_t seed = 0;
  int threads = 0;
  const std::atomic<bool> *interrupt = nullptr;
  Journal *journal = nullptr; ///< none: nothing is written down
};

/// One look at a bilevel run.
struct Look {
  int run = 0; ///< 0 or 1: which half
  std::int64_t step = 0;
  std::int64_t steps_in_all = 0; ///< of both runs so far
  double seconds = 0.0;          ///< of solving, since the first run began
  double trusted_loss = 0.0;
  double held_out_loss = 0.0;
  double held_out_accuracy = 0.0;
  Index suspects = 0; ///< samples with x < 0 in this half
};

struct Timings {
  double trusted_model = 0.0;
  double bilevel = 0.0;
  double rounds = 0.0;
  double final_model = 0.0;

  [[nodiscard]] double total() const { return trusted_model + bilevel + rounds + final_model; }
};

/// Per training sample, in the order of the samples given.
struct Result {
  Vector weight;                        ///< σ(x) of the bilevel run
  Vector trust;                         ///< P(the given label is right)
  float suspect_below = 0.5F;           ///< samples of less trust are suspects
  Vector probability;                   ///< the judging model's probability of the given label
  std::vector<std::uint32_t> suggested; ///< the given label where it is trusted, else the most probable other
  Vector model;                         ///< K × (D + 1), of the scaled features; for a network see network.hpp
  Vector trusted_only;                  ///< the model of step 1, alike
  Index hidden = 0;                     ///< units of the models' hidden layer; 0: they are linear
  LabelNoise noise;
  double wrong_by_class = 0.0; ///< parts of the labels, as in label_account.hpp
  double near_boundaries = 0.0;
  /// What the features tell of trusted labels that a model has not seen: 1 − its loss over that of the
  /// classes' shares alone; 0 where they tell nothing.
  double skill = 0.0;
  double label_information = 0.0; ///< the weight of a training sample beside a trusted one
  double rho = 0.0;
  double pooled_trusted = 0.0; ///< weights of step 3
  double pooled_bilevel = 0.0;
  std::int64_t rounds = 0;
  std::array<std::int64_t, 2> steps{};     ///< done
  std::array<std::int64_t, 2> best_step{}; ///< whose model was kept: the lowest loss on held-out samples
  std::array<std::string, 2> endings;      ///< why each run stopped
  /// Where each run went back, why, and with which steps it went on; empty where it did not.
  std::array<std::vector<std::string>, 2> recoveries;
  std::string solver; ///< with all its options, as the runs began
  std::vector<Look> looks;
  Timings timings;
};

/// Training samples are in an order in which any run of them is like the whole (see interleaved_order).
/// Throws InvalidInput where the samples do not fit or there is no such device, NotAvailable where there is no LibTorch
/// for a network, Interrupted on request.
[[nodiscard]] Result clean(const LabelledSamples &training, const LabelledSamples &trusted, Index classes,
                           const Options &options, const std::function<void(const Look &)> &watch = {});

/// With a classifier of one's own.
[[nodiscard]] Result clean(const Classifier &classifier, const LabelledSamples &training,
                           const LabelledSamples &trusted, Index classes, const Options &options,
                           const std::function<void(const Look &)> &watch = {});

} // namespace duplex::clean
