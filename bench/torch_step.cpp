// One BAGDC step on hyper-cleaning by losses on tensors, on the samples that bench/device.py left in a folder: plain,
// and as a CUDA graph where the device is one. Leaves the iterates after so many steps there, and prints times.

#include <duplex/methods/bagdc.hpp>
#include <duplex/torch/captured.hpp>
#include <duplex/torch/tensor_problem.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

namespace {

using namespace duplex;

constexpr std::int64_t classes = 10;

at::Tensor read_numbers(const std::string &path, at::ScalarType type) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    throw InvalidInput(path + ": cannot be read");
  }
  const auto bytes = static_cast<std::int64_t>(file.tellg());
  at::Tensor numbers = at::empty({bytes / static_cast<std::int64_t>(c10::elementSize(type))}, type);
  file.seekg(0);
  file.read(static_cast<char *>(numbers.data_ptr()), bytes);
  return numbers;
}

void write_numbers(const std::string &path, const Tensors &tensors) {
  const at::Tensor numbers = tensors[0].to(at::kCPU, at::kFloat).contiguous();
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char *>(numbers.data_ptr()), static_cast<std::streamsize>(numbers.nbytes()));
}

TensorProblem cleaning(const std::string &folder, const at::Device &device) {
  const auto loss_of = [&](const std::string &set) {
    const auto labels = read_numbers(folder + "/" + set + "_labels.i64", at::kLong).to(device);
    const auto samples = read_numbers(folder + "/" + set + ".f32", at::kFloat).to(device).reshape({labels.numel(), -1});
    const auto wanted = at::one_hot(labels, classes).to(at::kFloat);
    return std::pair{samples,
                     [=](const at::Tensor &y) { return -(wanted * at::log_softmax(samples.mm(y), 1)).sum(1); }};
  };
  const auto [samples, training] = loss_of("training");
  const auto trusted = loss_of("trusted").second;
  return {[trusted](const auto &, const auto &y) { return trusted(y[0]).mean(); },
          [training = training](const auto &x, const auto &y) { return (x[0].sigmoid() * training(y[0])).mean(); },
          Tensors({at::zeros({samples.size(0)}, samples.options())}),
          Tensors({at::zeros({samples.size(1), classes}, samples.options())})};
}

Captured<Bagdc> solver(Capture graph) {
  return {{.alpha = 3000, .beta = 0.3, .eta = 0.3, .dual = DualStep::constant, .fused = false}, graph};
}

/// The loop's own work included: x moved, ‖d‖ read back at every step.
double microseconds_per_step(const TensorProblem &problem, Capture graph, std::int64_t steps) {
  constexpr int repetitions = 7;
  constexpr std::int64_t warm = 20;
  double few = infinity;
  double many = infinity;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    auto state = problem.start();
    few = std::min(few, solve(problem, solver(graph), state, {.max_iterations = warm}).seconds);
    many = std::min(many, solve(problem, solver(graph), state, {.max_iterations = warm + steps}).seconds);
  }
  return 1e6 * (many - few) / static_cast<double>(steps);
}

int measure(const std::string &name, const std::string &folder, std::int64_t steps) {
  const auto problem = cleaning(folder, device_named(name));
  std::string separator = "{";
  for (const auto graph : {Capture::off, Capture::on}) {
    if (graph == Capture::on && name == "cpu") {
      continue;
    }
    const std::string way = graph == Capture::on ? "graph" : "plain";
    auto state = problem.start();
    if (const auto summary = solve(problem, solver(graph), state, {.max_iterations = steps}); summary.failed()) {
      throw InvalidInput(summary.brief());
    }
    write_numbers(folder + "/" + way + "_x.f32", state.x);
    write_numbers(folder + "/" + way + "_y.f32", state.y);
    std::printf("%s\"%s\": %.2f", separator.c_str(), way.c_str(), microseconds_per_step(problem, graph, steps));
    separator = ", ";
  }
  std::printf("}\n");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc != 4) {
      throw duplex::InvalidInput("usage: duplex_torch_step DEVICE FOLDER STEPS");
    }
    return measure(argv[1], argv[2], std::atoll(argv[3]));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "duplex_torch_step: %s\n", error.what());
    return 2;
  }
}
