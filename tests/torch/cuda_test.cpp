// What needs a device. Where there is none, each test says so and ctest shows it as skipped.

#include "torch_support.hpp"

#include <duplex/torch/captured.hpp>

#include <ATen/Context.h>
#if DUPLEX_TORCH_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include <iostream>

namespace duplex::testing {
namespace {

class OnDevice : public ::testing::Test {
protected:
  [[nodiscard]] static bool has_device() {
    if (at::hasCUDA()) {
      return true;
    }
    std::cout << "skipped: no CUDA device\n";
    return false;
  }
};

constexpr Index sample_count = 300;
constexpr Index feature_count = 40;
constexpr Index class_count = 5;

/// Weighted softmax regression with labels that follow from the features but for every third.
TensorProblem cleaning_on(const at::Device &device, at::ScalarType type = at::kDouble) {
  std::mt19937_64 generator(3);
  const auto normal = [&](at::IntArrayRef shape) {
    Tensors numbers({at::empty(shape, type)});
    fill_normal(generator, numbers);
    return numbers[0].to(device);
  };
  const auto x_features = normal({sample_count, feature_count});
  const auto truth = normal({feature_count, class_count});
  const auto labels = x_features.mm(truth).argmax(1);
  const auto noisy = at::where(at::arange(sample_count, labels.options()) % 3 == 0, (labels + 1) % class_count, labels);
  const auto loss = [=](const at::Tensor &y, const at::Tensor &wanted) {
    return -at::log_softmax(x_features.mm(y), 1).gather(1, wanted.unsqueeze(1)).squeeze(1);
  };
  return {[=](const auto &, const auto &y) { return loss(y[0], labels).mean(); },
          [=](const auto &x, const auto &y) { return (x[0].sigmoid() * loss(y[0], noisy)).mean(); },
          Tensors({at::zeros({sample_count}, x_features.options())}),
          Tensors({at::zeros({feature_count, class_count}, x_features.options())})};
}

constexpr Bagdc constant_steps{.alpha = 50.0, .beta = 0.3, .eta = 0.3, .dual = DualStep::constant};

TEST_F(OnDevice, HasTheIteratesOfTheCpu) {
  if (!has_device()) {
    return;
  }
  const auto here = cleaning_on(at::kCPU);
  const auto there = cleaning_on(device_named("cuda"));
  for (const auto dual : {DualStep::constant, DualStep::adaptive}) {
    Bagdc solver = constant_steps;
    solver.dual = dual;
    auto a = here.start();
    auto b = there.start();
    (void)run_steps(here, solver, a, 100);
    (void)run_steps(there, solver, b, 100);
    EXPECT_LE(relative_error(entries_of(b.x), entries_of(a.x)), 1e-9);
    EXPECT_LE(relative_error(entries_of(b.y), entries_of(a.y)), 1e-9);
  }
}

TEST_F(OnDevice, GivesTheSameStepsCapturedAndPlain) {
  if (!has_device()) {
    return;
  }
  const auto problem = cleaning_on(device_named("cuda"));
  for (const auto method : {UpperMethod::gradient, UpperMethod::adam}) {
    Bagdc solver = constant_steps;
    solver.upper.method = method;
    solver.alpha = method == UpperMethod::adam ? 0.05 : 50.0;
    for (const std::int64_t steps : {3, 5, 6, 7, 101}) {
      auto plain = problem.start();
      const auto plain_summary = run_steps(problem, solver, plain, steps);
      auto captured = problem.start();
      const auto summary = run_steps(problem, Captured<Bagdc>{.solver = solver, .graph = Capture::on}, captured, steps);
      EXPECT_EQ(summary.counters, plain_summary.counters) << steps;
      EXPECT_LE(relative_error(entries_of(captured.x), entries_of(plain.x)), 1e-12) << steps;
      EXPECT_LE(relative_error(entries_of(captured.y), entries_of(plain.y)), 1e-12) << steps;
      EXPECT_LE(relative_error(entries_of(captured.v), entries_of(plain.v)), 1e-12) << steps;
    }
  }
}

TEST_F(OnDevice, RefusesVariablesOnTwoDevices) {
  if (!has_device()) {
    return;
  }
  const auto device = device_named("cuda");
  EXPECT_CONTAINS(refusal([&] { Tensors({at::ones(2), at::ones(2, device)}); }), "expected one device");
  EXPECT_CONTAINS(refusal([] { (void)device_named("cuda:99"); }), "CUDA device");
}

#if DUPLEX_TORCH_CUDA
std::int64_t device_bytes() {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
  return stats.allocated_bytes[0].current;
}

TEST_F(OnDevice, NeedsNoMoreMemoryForMoreSteps) {
  if (!has_device()) {
    return;
  }
  const auto problem = cleaning_on(device_named("cuda"));
  for (const auto graph : {Capture::off, Capture::on}) {
    auto state = problem.start();
    const Captured<Bagdc> solver{.solver = constant_steps, .graph = graph};
    (void)run_steps(problem, solver, state, 50);
    const auto before = device_bytes();
    (void)run_steps(problem, solver, state, 2000);
    EXPECT_LT(device_bytes() - before, 1 << 20);
  }
}
#endif

} // namespace
} // namespace duplex::testing
