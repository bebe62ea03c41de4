// Runs on tensors that are saved and gone on with.

#include "torch_support.hpp"

#include "saved_run.hpp"

#include <duplex/torch/captured.hpp>
#include <duplex/torch/sampled_problem.hpp>

namespace duplex::testing {
namespace {

TEST(SavedRunOnTensors, GoesOnToTheSameBits) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto a = at::eye(4, type) + 0.1;
    const TensorProblem problem(
        [a](const auto &x, const auto &y) {
          return (x[0] - 1).square().sum() + y[0].dot(a.mv(y[0])) + y[1].sum().square();
        },
        [a](const auto &x, const auto &y) {
          return 0.5 * y[0].dot(a.mv(y[0])) - x[0].dot(y[0]) + (y[1] - x[1]).square().sum();
        },
        Tensors({at::ones(4, type), at::ones({2, 3}, type)}), Tensors({at::zeros(4, type), at::zeros({2, 3}, type)}));
    for (const auto method : {UpperMethod::gradient, UpperMethod::adam}) {
      const Bagdc bagdc{
          .alpha = 0.01, .beta = 0.1, .eta = 0.1, .dual = DualStep::constant, .upper = {.method = method}};
      const std::string what = c10::toString(type) + std::string(", ") + std::string(name_of(method));
      expect_same_bits(problem, bagdc, what);
      expect_same_bits(problem, Captured<Bagdc>{bagdc}, "captured where that is possible, " + what);
      Bagdc mixed = bagdc;
      mixed.mixing = 3;
      expect_same_bits(problem, mixed, "mixed, " + what);
      expect_same_bits(problem, Rhg{.alpha = 0.01, .beta = 0.1, .inner = 3, .upper = {.method = method}},
                       "rhg, " + what);
    }
  }
}

TEST(SavedRunOnTensors, DrawsTheSamplesThatItWouldHaveDrawn) {
  at::manual_seed(3);
  const auto rows = at::randn({20, 3}, at::kDouble);
  const SampledTensorProblem problem(
      [](const auto &x, const auto &y, const auto &) { return (x[0] - 1).square().sum() + y[0].square().sum(); },
      [rows](const auto &x, const auto &y, const auto &sample) {
        return (y[0] - x[0] - rows.index_select(0, sample[0])).square().mean();
      },
      [](std::mt19937_64 &generator) { return std::vector<at::Tensor>{random_rows(generator, 4, 20)}; },
      Tensors({at::zeros(3, at::kDouble)}), Tensors({at::zeros(3, at::kDouble)}));
  expect_same_bits(problem, Bagdc{.alpha = 0.05, .beta = 0.2}, "sampled");
}

} // namespace
} // namespace duplex::testing
