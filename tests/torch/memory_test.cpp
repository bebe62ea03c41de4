// What is said where memory is out, what a run through T inner steps holds, and one without second derivatives.

#include "torch_support.hpp"

#include <duplex/torch/memory.hpp>

#include <malloc.h>
#include <torch/csrc/autograd/autograd.h>

#include <fstream>
#include <iostream>

namespace duplex::testing {
namespace {

/// The message with which LibTorch's error of that text is refused as memory; empty if it is refused as something else.
template <class Error = c10::Error> std::string said_of(const std::string &text) {
  return refusal<OutOfMemory>([&] {
    try {
      explaining("work", [&] { throw Error({__func__, __FILE__, __LINE__}, text); });
    } catch (const InvalidInput &) {
    }
  });
}

TEST(OutOfMemoryText, IsReadFromEveryLibTorch) {
  const auto of_1_13 = said_of("CUDA out of memory. Tried to allocate 2.00 GiB (GPU 3; 15.78 GiB total capacity; …)");
  EXPECT_CONTAINS(of_1_13, "work: out of memory on cuda:3: 2.00 GiB asked for");
  EXPECT_CONTAINS(of_1_13, "; reduce the batch, or the size of the variables");
  EXPECT_CONTAINS(said_of<c10::OutOfMemoryError>("CUDA out of memory. Tried to allocate 20.50 MiB. GPU 0 has a total "
                                                 "capacity of 139.80 GiB of which 1.10 GiB is free."),
                  "work: out of memory on cuda:0: 20.50 MiB asked for");
  EXPECT_CONTAINS(said_of("CUDA error: out of memory"), "work: out of memory on cuda:0: more asked for than there is");
  EXPECT_EQ(said_of("mat1 and mat2 shapes cannot be multiplied"), "");
}

TEST(OutOfMemoryText, WritesSizesAsLibTorchDoes) {
  EXPECT_EQ(bytes_text(512), "512 bytes");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(2.0 * (1 << 30)), "2.00 GiB");
  EXPECT_EQ(bytes_text(std::ldexp(1.0, 50)), "1024.00 TiB");
}

/// y[0], and where y is above a half a detour by 2^50 bytes.
at::Tensor hungry(const at::Tensor &y) {
  return y.max().item<double>() > 0.5 ? y.sum() + at::ones({std::int64_t(1) << 47}, at::kDouble).sum() : y.sum();
}

TEST(OutOfMemoryOnTheHost, IsSaidWithTheLevelWhatWasAskedAndWhatIsFree) {
  const auto calm = [](const auto &x, const auto &y) { return (y[0] - x[0]).square().sum(); };
  const auto upper = refusal<OutOfMemory>([&] {
    TensorProblem([](const auto &, const auto &y) { return hungry(y[0]); }, calm, Tensors({at::ones(2)}),
                  Tensors({at::ones(2)}));
  });
  EXPECT_CONTAINS(upper, "upper: out of memory on cpu: 1024.00 TiB asked for, ");
  EXPECT_CONTAINS(upper, "iB free; reduce the batch, or the size of the variables");
  EXPECT_EQ(upper.find("frame #"), std::string::npos) << upper;

  const TensorProblem problem(
      calm, [](const auto &x, const auto &y) { return (y[0] - x[0]).square().sum() + 0.0 * hungry(y[0]); },
      Tensors({at::ones(2)}), Tensors({at::zeros(2)})); // y walks to x = 1
  EXPECT_CONTAINS(refusal<OutOfMemory>([&] {
                    auto state = problem.start();
                    (void)run_steps(problem, Bagdc{.alpha = 0.01, .beta = 0.1}, state, 100);
                  }),
                  "lower: out of memory on cpu: 1024.00 TiB asked for");
}

std::int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") {
      std::int64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
  }
  return 0;
}

/// Whether the system allows it.
bool reset_peak_resident_bytes() {
  (void)malloc_trim(0);
  std::ofstream control("/proc/self/clear_refs");
  control << "5" << std::flush;
  return control.good() && peak_resident_bytes() > 0;
}

/// The network of examples/torch_regularization.cpp with so many hidden units that nothing else takes memory: 40
/// samples of ten numbers to train on, and 40 that validate.
class WideNetwork {
public:
  using List = std::vector<at::Tensor>;

  static TensorLoss lower() {
    return [data = samples(1)](const List &x, const List &y) {
      const auto penalties = x[0].exp();
      return misfit(data, y) + penalties[0] * y[0].square().sum() + penalties[1] * y[2].square().sum();
    };
  }
  static TensorLoss upper() {
    return [data = samples(2)](const List & /*x*/, const List &y) { return misfit(data, y); };
  }
  static Tensors x() { return Tensors({at::full({2}, -6.0)}); }
  static Tensors y() {
    at::manual_seed(3);
    return Tensors({0.3 * at::randn({hidden, 10}), at::zeros({hidden}), 1e-3 * at::randn({1, hidden}), at::zeros({1})});
  }

private:
  static constexpr std::int64_t hidden = std::int64_t{1} << 15;
  struct Samples {
    at::Tensor inputs;
    at::Tensor targets;
  };
  static Samples samples(std::uint64_t seed) {
    at::manual_seed(seed);
    const at::Tensor inputs = at::randn({40, 10});
    return {inputs, at::sin(2 * inputs.narrow(1, 0, 1))};
  }
  static at::Tensor misfit(const Samples &data, const List &y) {
    const auto inner = at::tanh(at::linear(data.inputs, y[0], y[1]));
    return (at::linear(inner, y[2], y[3]) - data.targets).square().mean();
  }
};

/// By how much the resident memory grows at most while the work is done, in bytes.
template <class Work> double growth_during(const Work &work) {
  EXPECT_TRUE(reset_peak_resident_bytes());
  const auto before = static_cast<double>(resident_bytes());
  work();
  return static_cast<double>(peak_resident_bytes()) - before;
}

/// Gradient descent on the lower level as one writes it without any bilevel engine.
void train_plainly() {
  const auto loss = WideNetwork::lower();
  auto x = WideNetwork::x().list();
  auto y = WideNetwork::y().list();
  for (int step = 0; step < 5; ++step) {
    for (auto &tensor : y) {
      tensor.requires_grad_(true);
    }
    auto slope = torch::autograd::grad({loss(x, y)}, y);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = y[i].detach();
      y[i].sub_(slope[i], 1e-9);
    }
  }
}

/// Tests of the peak of memory, which the kernel must be able to reset. Debian's are; some sandboxes' are not.
class PeakOfMemory : public ::testing::Test {
protected:
  void SetUp() override {
    if (!reset_peak_resident_bytes()) {
      GTEST_SKIP() << "no /proc/self/clear_refs"; // Without it no test here could tell one peak from the one before.
    }
  }
};
using MemoryOfMethodsWithoutSecondDerivatives = PeakOfMemory;
using MemoryOfRhg = PeakOfMemory;

TEST_F(MemoryOfMethodsWithoutSecondDerivatives, IsAtMostTwiceThatOfPlainTraining) {
  (void)mallopt(M_MMAP_THRESHOLD, 1 << 16); // what is freed is given back at once
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 16);
  train_plainly(); // what is loaded and cached for good
  const double plain = growth_during(train_plainly);
  const auto expect_little = [&]<class S>(const S &method) {
    const double grown = growth_during([&] {
      const TensorProblem problem(WideNetwork::upper(), WideNetwork::lower(), WideNetwork::x(), WideNetwork::y());
      ASSERT_TRUE(reset_peak_resident_bytes()); // making the problem tries second derivatives too
      auto state = problem.start();
      const auto summary = run_steps(problem, method, state, 5);
      EXPECT_EQ(summary.iterations, 5) << summary.brief();
    });
    std::cout << S::name << ": " << grown / plain << " times the memory of plain training, " << plain / (1 << 20)
              << " MiB\n";
    EXPECT_LE(grown, 2.2 * plain) << S::name;
    EXPECT_GE(grown, plain) << S::name << ": something is not measured";
  };
  constexpr double short_step = 1e-9; // so wide a network is very curved
  expect_little(F2sa{.alpha = short_step, .beta = short_step, .inner = 2});
  expect_little(Pbgd{.alpha = short_step, .beta = short_step, .inner = 2});
  expect_little(Bome{.alpha = short_step, .beta = short_step, .inner = 2});
  expect_little(Meha{.alpha = short_step, .beta = short_step});
}

TEST_F(MemoryOfRhg, GrowsWithItsInnerStepsByOneCopyOfYEach) {
  EXPECT_NEAR(copies_of_y_per_inner_step(at::kCPU, reset_peak_resident_bytes, peak_resident_bytes), 1.0, 0.25);
}

} // namespace
} // namespace duplex::testing
