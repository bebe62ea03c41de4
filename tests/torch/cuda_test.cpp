// What needs a device. Where there is none, each test says so and ctest shows its suite as skipped, which therefore
// holds nothing else.

#include "torch_support.hpp"

#include <duplex/torch/captured.hpp>
#include <duplex/torch/memory.hpp>
#include <duplex/torch/sampled_problem.hpp>

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

constexpr Index cleaning_samples = 300;
constexpr Index cleaning_features = 40;
constexpr Index cleaning_classes = 5;

/// Weighted softmax regression with labels that follow from the features but for every third.
TensorProblem cleaning_on(const at::Device &device, at::ScalarType type = at::kDouble) {
  std::mt19937_64 generator(3);
  const auto normal = [&](at::IntArrayRef shape) {
    Tensors numbers({at::empty(shape, type)});
    fill_normal(generator, numbers);
    return numbers[0].to(device);
  };
  const auto x_features = normal({cleaning_samples, cleaning_features});
  const auto truth = normal({cleaning_features, cleaning_classes});
  const auto labels = x_features.mm(truth).argmax(1);
  const auto noisy =
      at::where(at::arange(cleaning_samples, labels.options()) % 3 == 0, (labels + 1) % cleaning_classes, labels);
  const auto loss = [=](const at::Tensor &y, const at::Tensor &wanted) {
    return -at::log_softmax(x_features.mm(y), 1).gather(1, wanted.unsqueeze(1)).squeeze(1);
  };
  return {[=](const auto &, const auto &y) { return loss(y[0], labels).mean(); },
          [=](const auto &x, const auto &y) { return (x[0].sigmoid() * loss(y[0], noisy)).mean(); },
          Tensors({at::zeros({cleaning_samples}, x_features.options())}),
          Tensors({at::zeros({cleaning_features, cleaning_classes}, x_features.options())})};
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
    expect_the_same_run(here, there, solver, 100, 1e-9);
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
      const auto summary = run_steps(problem, Captured<Bagdc>{solver, Capture::on}, captured, steps);
      EXPECT_EQ(summary.counters, plain_summary.counters) << steps;
      EXPECT_LE(relative_error(entries_of(captured.x), entries_of(plain.x)), 1e-12) << steps;
      EXPECT_LE(relative_error(entries_of(captured.y), entries_of(plain.y)), 1e-12) << steps;
      EXPECT_LE(relative_error(entries_of(captured.v), entries_of(plain.v)), 1e-12) << steps;
    }
  }
}

TEST_F(OnDevice, GoesOnPlainlyWhereALossReadsBack) {
  if (!has_device()) {
    return;
  }
  const auto device = device_named("cuda");
  const auto half_square = [](const at::Tensor &t) { return 0.5 * t.square().sum(); };
  const TensorProblem problem([=](const auto &x, const auto &y) { return half_square(x[0] - 1) + half_square(y[0]); },
                              [=](const auto &x, const auto &y) {
                                return half_square(y[0]) -
                                       x[0].dot(y[0]) * (x[0].sum().template item<double>() > 1e9 ? 2 : 1);
                              },
                              Tensors({at::zeros(3, device)}), Tensors({at::zeros(3, device)}));
  const Bagdc solver{.alpha = 0.1, .beta = 0.2, .eta = 0.5, .dual = DualStep::constant};
  auto plain = problem.start();
  const auto expected = run_steps(problem, solver, plain, 30);
  for (int repetition = 0; repetition < 2; ++repetition) {
    auto state = problem.start();
    const auto summary = run_steps(problem, Captured<Bagdc>{solver}, state, 30);
    EXPECT_EQ(summary.counters, expected.counters);
    EXPECT_TRUE(same_bits(entries_of(state.x), entries_of(plain.x)));
  }
  EXPECT_CONTAINS(refusal([&] {
                    auto state = problem.start();
                    (void)run_steps(problem, Captured<Bagdc>{solver, Capture::on}, state, 30);
                  }),
                  "cannot be captured");
  const auto other = cleaning_on(device); // and a capture that can be done is done after one that could not
  auto state = other.start();
  EXPECT_FALSE(run_steps(other, Captured<Bagdc>{constant_steps, Capture::on}, state, 30).failed());
}

TEST_F(OnDevice, CapturesSeveralTensorsUnderAMonitor) {
  if (!has_device()) {
    return;
  }
  const auto device = at::device(device_named("cuda")).dtype(at::kDouble);
  const TensorProblem problem(
      [](const auto &x, const auto &y) {
        return (x[0] - 1).square().sum() + y[0].square().sum() + (y[1] - 2).square().sum();
      },
      [](const auto &x, const auto &y) {
        return y[0].square().sum() + y[1].square().sum() - (x[0] * y[0]).sum() - (x[1] * y[1]).sum();
      },
      Tensors({at::zeros(3, device), at::zeros({2, 2}, device)}),
      Tensors({at::zeros(3, device), at::zeros({2, 2}, device)}));
  const auto answer = [&](const auto &solver) {
    auto state = problem.start();
    return std::pair{solve(problem, solver, state, {.max_iterations = 5000, .kkt_tolerance = 1e-9}).termination,
                     entries_of(state.x)};
  };
  const Bagdc bagdc{.alpha = 0.1, .beta = 0.2, .eta = 0.2, .dual = DualStep::constant};
  const auto [plain_end, plain] = answer(bagdc);
  const auto [end, captured] = answer(Captured<Bagdc>{bagdc, Capture::on});
  EXPECT_EQ(end, Termination::kkt_tolerance);
  EXPECT_EQ(plain_end, end);
  EXPECT_LE(relative_error(captured, plain), 1e-8);
  const Nosa nosa{.alpha = 0.1, .beta = 0.2};
  auto a = problem.start();
  auto b = problem.start();
  (void)run_steps(problem, nosa, a, 50);
  (void)run_steps(problem, Captured<Nosa>{nosa, Capture::on}, b, 50);
  EXPECT_LE(relative_error(entries_of(b.x), entries_of(a.x)), 1e-12);
}

/// min ½‖x − e‖² + ½‖y‖² where y minimizes the mean of ½‖y − x − a_i‖² over the rows in hand, drawn on the host.
SampledTensorProblem noisy_on(const at::Device &device) {
  constexpr std::int64_t rows = 64;
  const auto a = at::linspace(-1, 1, rows * 3, at::device(device).dtype(at::kDouble)).reshape({rows, 3}).sin();
  const Tensors start({at::zeros(3, a.options())});
  return {[](auto &x, auto &y, auto &) { return 0.5 * (x[0] - 1).square().sum() + 0.5 * y[0].square().sum(); },
          [a](auto &x, auto &y, auto &sample) {
            return 0.5 * (y[0] - x[0] - a.index_select(0, sample[0])).square().sum(1).mean();
          },
          [](std::mt19937_64 &generator) { return std::vector<at::Tensor>{random_rows(generator, 8, rows)}; }, start,
          start};
}

TEST_F(OnDevice, DrawsTheSamplesOfTheCpuCapturedAndPlain) {
  if (!has_device()) {
    return;
  }
  const auto problem = noisy_on(device_named("cuda"));
  const Bagdc solver{.alpha = 0.1, .beta = 0.2, .eta = 0.2, .dual = DualStep::constant};
  expect_the_same_run(noisy_on(at::kCPU), problem, solver, 100, 1e-10);
  auto plain = problem.start();
  auto captured = problem.start();
  (void)run_steps(problem, solver, plain, 100);
  (void)run_steps(problem, Captured<Bagdc>{solver, Capture::on}, captured, 100);
  EXPECT_LE(relative_error(entries_of(captured.x), entries_of(plain.x)), 1e-12) << "replays see the new sample";
  EXPECT_LE(relative_error(entries_of(captured.y), entries_of(plain.y)), 1e-12);
}

TEST_F(OnDevice, SaysWhatWasAskedAndWhatIsFreeWhereMemoryIsOut) {
  if (!has_device()) {
    return;
  }
  const auto device = device_named("cuda");
  const auto calm = [](const auto &x, const auto &y) { return (y[0] - x[0]).square().sum(); };
  const auto hungry_loss = [=](const auto &, const auto &y) {
    return y[0].sum() + at::ones({std::int64_t(1) << 40}, y[0].options()).sum();
  };
  const auto message = refusal<OutOfMemory>(
      [&] { TensorProblem(hungry_loss, calm, Tensors({at::ones(2, device)}), Tensors({at::ones(2, device)})); });
  EXPECT_CONTAINS(message, "upper: out of memory on cuda:0: ");
  EXPECT_CONTAINS(message, " asked for, ");
  EXPECT_CONTAINS(message, "iB free; reduce the batch, or the size of the variables");
  const auto other = cleaning_on(device); // and the device is of use after it
  auto state = other.start();
  EXPECT_FALSE(run_steps(other, constant_steps, state, 5).failed());
}

TEST_F(OnDevice, NamesTheLevelAndTheStepOfANaN) {
  if (!has_device()) {
    return;
  }
  const auto one = Tensors({at::ones(1, at::device(device_named("cuda")).dtype(at::kDouble))});
  const TensorProblem problem(
      [](const auto &x, const auto &y) { return (x[0] + 3).square().sum() + 1e-9 * y[0].sqrt().sum(); },
      [](const auto &x, const auto &y) { return (y[0] - x[0]).square().sum(); }, one, one);
  const Bagdc solver{.alpha = 0.05, .beta = 0.25, .eta = 0.25, .dual = DualStep::constant};
  std::string plain;
  for (const auto graph : {Capture::off, Capture::on}) {
    auto state = problem.start();
    const auto message = solve(problem, Captured<Bagdc>{solver, graph}, state).message;
    EXPECT_CONTAINS(message, "upper level: the loss F is NaN at step ");
    EXPECT_TRUE(plain.empty() || plain == message) << message;
    plain = message;
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

TEST_F(OnDevice, NeedsOneCopyOfYForAnInnerStepOfRhg) {
  if (!has_device()) {
    return;
  }
  const auto reset = [] { c10::cuda::CUDACachingAllocator::resetPeakStats(0); };
  const auto peak = [] { return c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocated_bytes[0].peak; };
  EXPECT_NEAR(copies_of_y_per_inner_step(device_named("cuda"), reset, peak), 1.0, 0.25);
}

TEST_F(OnDevice, NeedsNoMoreMemoryForMoreSteps) {
  if (!has_device()) {
    return;
  }
  const auto problem = cleaning_on(device_named("cuda"));
  for (const auto graph : {Capture::off, Capture::on}) {
    EXPECT_LT(GrowthWatch::of_run(device_bytes, problem, Captured<Bagdc>{constant_steps, graph}, 2000), 1 << 20);
  }
}
#endif

} // namespace
} // namespace duplex::testing
