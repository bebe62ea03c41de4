// What is said where memory is out, and what a run through T inner steps holds.

#include "torch_support.hpp"

#include <duplex/torch/memory.hpp>

#include <malloc.h>

#include <fstream>

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

TEST(MemoryOfRhg, GrowsWithItsInnerStepsByOneCopyOfYEach) {
  if (!reset_peak_resident_bytes()) {
    GTEST_SKIP() << "this kernel has no /proc/self/clear_refs, by which the peak is reset; Debian's kernels have it";
  }
  EXPECT_NEAR(copies_of_y_per_inner_step(at::kCPU, reset_peak_resident_bytes, peak_resident_bytes), 1.0, 0.25);
}

} // namespace
} // namespace duplex::testing
