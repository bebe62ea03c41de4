#include "benchmarks.hpp"

#include <benchmark/benchmark.h>

int main(int argc, char **argv) {
  duplex::bench::register_counter_example();
  duplex::bench::register_eigen_pass();
  duplex::bench::register_hardware();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
