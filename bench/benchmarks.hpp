#pragma once
// Each function adds its benchmarks to Google Benchmark's list.

namespace duplex::bench {

void register_counter_example();
void register_eigen_pass();
void register_hardware();

} // namespace duplex::bench
