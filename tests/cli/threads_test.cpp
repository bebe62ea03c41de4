// Results do not depend on how many cores a machine has: the same bits on any number of threads.

#include "tool.hpp"

namespace duplex::test {
namespace {

TEST(Threads, ChangeNoBitOfASolution) {
  const ScratchFolder scratch;
  // Large enough for several threads each: products with a dense matrix, fused and general softmax, dense factors.
  const std::string samples =
      "--problem hyper-cleaning --samples 2400 --trusted 300 --features 300 --classes 6 --alpha 0.1";
  const std::string dense = "--problem counter-example --n 520 --matrix dense --condition 100";
  const std::vector<std::string> runs = {
      dense + " --solver bagdc --alpha 1e-3 --beta 1e-2 --iterations 12", dense + " --tolerance 1e-2",
      samples + " --solver bagdc --beta 0.5 --upper adam --mixing 4 --iterations 10",
      samples + " --solver cg --inner 2 --iterations 2", "--problem quadratic --n 100 --m 100 --condition 20"};
  for (const auto &run : runs) {
    std::string alone;
    for (const int threads : {1, 2, 3}) {
      const auto out = (scratch.path() / std::to_string(threads)).string();
      const auto result = run_command("OMP_NUM_THREADS=" + std::to_string(threads) + " " + DUPLEX_TOOL + " solve " +
                                      run + " --out " + out);
      ASSERT_EQ(result.exit_code, 0) << run << "\n" << result.output;
      const std::string solution = read_file(scratch.path() / std::to_string(threads) / "solution.csv");
      ASSERT_FALSE(solution.empty());
      if (alone.empty()) {
        alone = solution;
      }
      EXPECT_EQ(solution, alone) << run << " on " << threads << " threads";
    }
  }
}

TEST(Threads, ChangeNoBitOfACleaning) {
  const ScratchFolder scratch;
  for (const std::string threads : {"1", "3"}) {
    const auto result = run_tool("clean --demo fashion-mnist --samples 1300 --trusted-samples 150 --threads " +
                                 threads + " --out " + (scratch.path() / threads).string());
    ASSERT_EQ(result.exit_code, 0) << result.output;
    for (const std::string file : {"suspects.csv", "weights.csv", "model.npy"}) {
      EXPECT_EQ(read_file(scratch.path() / threads / file), read_file(scratch.path() / "1" / file))
          << file << " on " << threads << " threads";
    }
  }
}

} // namespace
} // namespace duplex::test
