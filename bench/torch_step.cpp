// One BAGDC step on hyper-cleaning of the size of bench/hyper_cleaning.py, by losses on tensors: plain, and as a CUDA
// graph where there is a device.

#include <duplex/solvers/bagdc.hpp>
#include <duplex/torch/captured.hpp>
#include <duplex/torch/tensor_problem.hpp>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace duplex;

TensorProblem cleaning(const at::Device &device, std::int64_t samples) {
  constexpr std::int64_t features = 785;
  constexpr std::int64_t classes = 10;
  std::mt19937_64 generator(1);
  const auto numbers = [&](at::IntArrayRef shape) {
    Tensors normal({at::empty(shape, at::kFloat)});
    fill_normal(generator, normal);
    return normal[0].to(device);
  };
  const auto truth = numbers({features, classes});
  const auto loss_of = [&](bool noisy) {
    const auto pixels = numbers({samples, features}).abs().clamp(0, 1).contiguous();
    auto labels = pixels.mm(truth).argmax(1);
    if (noisy) {
      labels = at::where(at::arange(samples, labels.options()) % 2 == 0, (labels + 1) % classes, labels);
    }
    const auto wanted = at::one_hot(labels, classes).to(at::kFloat);
    return [=](const at::Tensor &y) { return -(wanted * at::log_softmax(pixels.mm(y), 1)).sum(1); };
  };
  return {[loss = loss_of(false)](const auto &, const auto &y) { return loss(y[0]).mean(); },
          [loss = loss_of(true)](const auto &x, const auto &y) { return (x[0].sigmoid() * loss(y[0])).mean(); },
          Tensors({at::zeros({samples}, at::device(device))}),
          Tensors({at::zeros({features, classes}, at::device(device))})};
}

double microseconds_per_step(const TensorProblem &problem, Capture graph, std::int64_t steps) {
  const Captured<Bagdc> solver{
      .solver = {.alpha = 3000, .beta = 0.3, .eta = 0.3, .dual = DualStep::constant, .fused = false}, .graph = graph};
  double best = infinity;
  for (int repetition = 0; repetition < 5; ++repetition) {
    auto state = problem.start();
    (void)solve(problem, solver, state, {.max_iterations = 20});
    const auto few = solve(problem, solver, state, {.max_iterations = 20});
    const auto many = solve(problem, solver, state, {.max_iterations = 20 + steps});
    best = std::min(best, 1e6 * (many.seconds - few.seconds) / static_cast<double>(steps));
  }
  return best;
}

} // namespace

int main(int argc, char **argv) {
  const std::string name = argc > 1 ? argv[1] : "cpu";
  const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 20;
  const auto problem = cleaning(device_named(name), 5000);
  std::printf("{\"device\": \"%s\", \"plain_us\": %.1f", name.c_str(),
              microseconds_per_step(problem, Capture::off, steps));
  if (name != "cpu") {
    std::printf(", \"graph_us\": %.1f", microseconds_per_step(problem, Capture::on, steps));
  }
  std::printf("}\n");
}
