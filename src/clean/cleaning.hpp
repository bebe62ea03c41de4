#pragma once
// Finds wrong labels and fits a model to what can be trusted. In order:
//
//   1  a model of the trusted samples alone, its penalty chosen by cross-validation;
//   2  hyper-cleaning twice, on either half of the training samples with a quarter of the trusted
//      ones held out: each run's model judges the half that it has not seen, and stops when the
//      loss on what is held out no longer falls;
//   3  the beliefs of both, pooled by weights fitted on the held-out trusted samples;
//   4  the noise of the labels, estimated from those beliefs; each label's probability of being right;
//   5  rounds of fitting a model to trusted and weighted training samples, again by halves, and of 4;
//   6  the final model, on all samples.

#include "catalog/catalog.hpp"
#include "clean/label_noise.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace duplex::clean {

struct Options {
  std::string solver = {}; ///< of the bilevel problem; empty: BAGDC with steps of its own choice
  std::int64_t most_steps = 150;
  std::int64_t rounds = 4;
  std::uint64_t seed = 0;
  int threads = 0;
  const std::atomic<bool> *interrupt = nullptr;
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

/// A sample is a suspect where its trust is below this.
inline constexpr float suspect_below = 0.5F;

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
  Vector probability;                   ///< the judging model's probability of the given label
  std::vector<std::uint32_t> suggested; ///< the given label where it is trusted, else the most probable other
  Vector model;                         ///< K × (D + 1), of the scaled features
  Vector trusted_only;                  ///< the model of step 1, alike
  LabelNoise noise;
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
  std::string solver;                      ///< with all its options
  std::vector<Look> looks;
  Timings timings;
};

/// Training samples are in an order in which any run of them is like the whole (see interleaved_order).
/// Throws InvalidInput where the samples do not fit, Interrupted on request.
[[nodiscard]] Result clean(const LabelledSamples &training, const LabelledSamples &trusted, Index classes,
                           const Options &options, const std::function<void(const Look &)> &watch = {});

} // namespace duplex::clean
