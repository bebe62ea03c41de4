// duplex_stochastic FOLDER CHECKED TIMED
//
// Steps of SOBA, SABA and SRBA on hyper-cleaning in batches of 64, for a rival to do the same
// (rivals/jax_stochastic.py): writes the samples, the batches that were drawn and the state after CHECKED steps in
// double precision into FOLDER as plain numbers, and prints the time of a step in float, the best of some runs of TIMED
// steps, as JSON.

#include "stochastic_settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace duplex;
using namespace duplex::bench;

template <class T> void write(const std::filesystem::path &file, const T *values, std::size_t count) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char *>(values), static_cast<std::streamsize>(count * sizeof(T)));
  if (!out.flush()) {
    throw std::runtime_error(file.string() + " cannot be written");
  }
}

void write_samples(const std::filesystem::path &folder, const std::string &name, const LabelledSamples &samples) {
  const FeatureTable &features = *samples.features;
  write(folder / (name + ".f32"), reinterpret_cast<const float *>(features.data()), features.entries());
  write(folder / (name + ".u32"), samples.labels->data(), samples.labels->size());
}

/// The first samples of the batches, in the order in which a run with the seed sees them.
void write_batches(const std::filesystem::path &folder, const HyperCleaning<double> &problem, std::int64_t steps) {
  const auto batches = in_batches(problem, stochastic_batch);
  Drawn drawn(batches, stochastic_seed);
  std::vector<std::int64_t> lower;
  std::vector<std::int64_t> upper;
  for (std::int64_t k = 0; k < steps; ++k) {
    lower.push_back(drawn.batches().lower.first);
    upper.push_back(drawn.batches().upper.first);
    drawn.next();
  }
  write(folder / "lower_batches.i64", lower.data(), lower.size());
  write(folder / "upper_batches.i64", upper.data(), upper.size());
}

template <class S>
void write_state(const std::filesystem::path &folder, const HyperCleaning<double> &problem, const S &method,
                 std::int64_t steps) {
  auto state = problem.start();
  const auto summary =
      solve(in_batches(problem, stochastic_batch), method, state, {.max_iterations = steps, .seed = stochastic_seed});
  if (summary.failed()) {
    throw std::runtime_error(summary.brief());
  }
  const std::string name(S::name);
  const auto count = [](const Eigen::VectorXd &vector) { return static_cast<std::size_t>(vector.size()); };
  write(folder / (name + "_x.f64"), state.x.data(), count(state.x));
  write(folder / (name + "_y.f64"), state.y.data(), count(state.y));
  write(folder / (name + "_v.f64"), state.v.data(), count(state.v));
}

template <class S> double seconds_per_step(const HyperCleaning<float> &problem, const S &method, std::int64_t steps) {
  constexpr int runs = 5;
  double best = infinity;
  for (int run = 0; run < runs; ++run) {
    best = std::min(best, seconds_of_stochastic_step(problem, method, steps));
  }
  return best;
}

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc != 4) {
      throw std::runtime_error("expected FOLDER CHECKED TIMED");
    }
    const std::filesystem::path folder = argv[1];
    const std::int64_t checked = std::stoll(argv[2]);
    const std::int64_t timed = std::stoll(argv[3]);
    const auto exact = stochastic_cleaning.generate<double>();
    write_samples(folder, "training", exact.training());
    write_samples(folder, "trusted", exact.trusted());
    write_batches(folder, exact, std::max(checked, timed));
    write_state(folder, exact, stochastic_soba, checked);
    write_state(folder, exact, stochastic_saba, checked);
    write_state(folder, exact, stochastic_srba, checked);
    const auto problem = stochastic_cleaning.generate<float>();
    constexpr Index batches_of_pass =
        stochastic_cleaning.samples / stochastic_batch + stochastic_cleaning.trusted / stochastic_batch;
    std::cout << "{\"batch\": " << stochastic_batch << ", \"alpha\": " << stochastic_alpha
              << ", \"beta\": " << stochastic_beta << ", \"decay\": " << stochastic_soba.decay
              << ", \"rho\": " << stochastic_cleaning.rho << ", \"classes\": " << stochastic_cleaning.classes
              << ", \"features\": " << stochastic_cleaning.features
              << ", \"period\": " << std::llround(stochastic_srba.period * static_cast<double>(batches_of_pass))
              << ", \"seconds\": {\"soba\": " << seconds_per_step(problem, stochastic_soba, timed)
              << ", \"saba\": " << seconds_per_step(problem, stochastic_saba, timed)
              << ", \"srba\": " << seconds_per_step(problem, stochastic_srba, timed) << "}}\n";
    return 0;
  } catch (const std::exception &error) {
    std::cerr << "duplex_stochastic: " << error.what() << "\n";
    return 1;
  }
}
