#include "benchmarks.hpp"
#include "cleaning_data.hpp"

#include "data/npy_write.hpp"

#include <duplex/core/error.hpp>
#include <duplex/solve.hpp>

#include <array>
#include <fstream>
#include <iostream>
#include <string>

namespace duplex::bench {

namespace {

State<Eigen::VectorXf> after(std::int64_t steps, const HyperCleaning<float> &problem, const Bagdc &solver) {
  auto at = problem.start();
  const Summary summary = solve(problem, solver, at, {.max_iterations = steps});
  if (summary.failed()) {
    throw InvalidInput(summary.message);
  }
  return at;
}

void write(const std::filesystem::path &file, const Eigen::VectorXf &values) {
  std::ofstream out(file, std::ios::binary);
  const std::array<Index, 1> shape{values.size()};
  out << data::npy_file(std::span(values.data(), static_cast<std::size_t>(values.size())), shape);
  if (!out.flush()) {
    throw InvalidInput(file.string() + " cannot be written");
  }
}

double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return 1024.0 * std::stod(line.substr(6));
    }
  }
  throw InvalidInput("/proc/self/status does not say how much memory was used");
}

} // namespace

void write_iterates(const std::filesystem::path &folder, std::int64_t steps) {
  const auto save = [&](const std::string &name, Storage storage, const Bagdc &solver) {
    const auto at = after(steps, fashion_mnist(storage, 0), solver);
    write(folder / (name + "_x.npy"), at.x);
    write(folder / (name + "_y.npy"), at.y);
  };
  save("fused_byte", Storage::byte, cleaning_constant_eta);
  save("fused_float16", Storage::float16, cleaning_constant_eta);
  save("fused_float32", Storage::float32, cleaning_constant_eta);
  save("general_byte", Storage::byte, cleaning_general);
}

void print_peak_memory(std::int64_t rows, std::int64_t features) {
  const auto problem = synthetic_cleaning({rows, rows / 10, features, 10}, Storage::float32, 0);
  const auto at = after(2, problem, cleaning_constant_eta);
  std::cout << "{\"stored_bytes\": " << std::fixed << stored_bytes(problem) << ", \"peak_bytes\": " << peak_bytes()
            << ", \"steps\": 2, \"y_norm\": " << at.y.norm() << "}\n";
}

} // namespace duplex::bench
