// duplex_bench [Google Benchmark's options]
// duplex_bench iterates FOLDER STEPS       what the answers are compared by
// duplex_bench memory ROWS FEATURES        in a process of its own

#include "benchmarks.hpp"

#include <duplex/core/error.hpp>

#include <benchmark/benchmark.h>

#include <iostream>
#include <string>
#include <vector>

namespace {

int run_benchmarks(int argc, char **argv) {
  duplex::bench::register_counter_example();
  duplex::bench::register_eigen_pass();
  duplex::bench::register_hyper_cleaning();
  duplex::bench::register_stochastic();
  duplex::bench::register_hardware();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 3 && words[0] == "iterates") {
      duplex::bench::write_iterates(words[1], std::stoll(words[2]));
      return 0;
    }
    if (words.size() == 3 && words[0] == "memory") {
      duplex::bench::print_peak_memory(std::stoll(words[1]), std::stoll(words[2]));
      return 0;
    }
    return run_benchmarks(argc, argv);
  } catch (const std::exception &error) {
    std::cerr << "duplex_bench: " << error.what() << "\n";
    return 1;
  }
}
