#pragma once

#include <cstdint>
#include <filesystem>

namespace duplex::bench {

// Each adds its benchmarks to Google Benchmark's list.
void register_counter_example();
void register_eigen_pass();
void register_hardware();
void register_hyper_cleaning();
void register_stochastic();

/// x and y of hyper-cleaning after so many steps from zero, on the samples of DUPLEX_BENCH_DATA, as
/// FOLDER/{fused_byte,fused_float16,fused_float32,general_byte}_{x,y}.npy.
void write_iterates(const std::filesystem::path &folder, std::int64_t steps);

/// This process's peak memory after hyper-cleaning on float32 samples of that size, as a line of JSON.
void print_peak_memory(std::int64_t rows, std::int64_t features);

} // namespace duplex::bench
