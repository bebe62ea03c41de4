// duplex_stochastic FOLDER CHECKED TIMED
//
// Steps of SOBA, SABA and SRBA on hyper-cleaning in batches of 64, for a rival to do the same
// (rivals/jax_stochastic.py): writes the samples, the batches that were drawn and the state after CHECKED steps in
// double precision into FOLDER as plain numbers, and prints the time of a step in float, the best of some runs of TIMED
// steps, as JSON.

#include <duplex/methods/saba.hpp>
#include <duplex/methods/soba.hpp>
#include <duplex/methods/srba.hpp>
#include <duplex/problem/finite_sum.hpp>
#include <duplex/problems/hyper_cleaning.hpp>
#include <duplex/solve.hpp>

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

constexpr Index batch_size = 64;
constexpr std::uint64_t seed = 0;
// As large as benchmark_bilevel's MNIST, but for a number of samples that is a multiple of the batch.
constexpr HyperCleaningSettings settings{.samples = 312 * batch_size,
                                         .trusted = 78 * batch_size,
                                         .held_out = 0,
                                         .features = 784,
                                         .classes = 10,
                                         .noise = 0.5,
                                         .separation = 3.0,
                                         .rho = 0.4};
constexpr double alpha = 100.0;
constexpr double beta = 0.01;
constexpr Soba soba{.alpha = alpha, .beta = beta, .eta = beta};
constexpr Saba saba{.alpha = alpha, .beta = beta, .eta = beta};
constexpr Srba srba{.alpha = alpha, .beta = beta, .eta = beta, .period = 0.1};

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
  const auto batches = in_batches(problem, batch_size);
  Drawn drawn(batches, seed);
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
  const auto summary = solve(in_batches(problem, batch_size), method, state, {.max_iterations = steps, .seed = seed});
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
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    auto state = problem.start();
    const auto warm = solve(in_batches(problem, batch_size), method, state, {.max_iterations = 1, .seed = seed});
    state = problem.start();
    const auto all = solve(in_batches(problem, batch_size), method, state, {.max_iterations = steps, .seed = seed});
    best = std::min(best, (all.seconds - warm.seconds) / static_cast<double>(steps - 1)); // without SABA's first tables
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
    const auto exact = settings.generate<double>();
    write_samples(folder, "training", exact.training());
    write_samples(folder, "trusted", exact.trusted());
    write_batches(folder, exact, std::max(checked, timed));
    write_state(folder, exact, soba, checked);
    write_state(folder, exact, saba, checked);
    write_state(folder, exact, srba, checked);
    const auto problem = settings.generate<float>();
    constexpr Index batches_of_pass = settings.samples / batch_size + settings.trusted / batch_size;
    std::cout << "{\"batch\": " << batch_size << ", \"alpha\": " << alpha << ", \"beta\": " << beta
              << ", \"decay\": " << soba.decay << ", \"rho\": " << settings.rho << ", \"classes\": " << settings.classes
              << ", \"features\": " << settings.features
              << ", \"period\": " << std::llround(srba.period * static_cast<double>(batches_of_pass))
              << ", \"seconds\": {\"soba\": " << seconds_per_step(problem, soba, timed)
              << ", \"saba\": " << seconds_per_step(problem, saba, timed)
              << ", \"srba\": " << seconds_per_step(problem, srba, timed) << "}}\n";
    return 0;
  } catch (const std::exception &error) {
    std::cerr << "duplex_stochastic: " << error.what() << "\n";
    return 1;
  }
}
