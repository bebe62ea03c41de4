// Losses on tensors that see a sample: what is refused, that seeds repeat a run, and where it goes.

#include "torch_support.hpp"

#include <duplex/torch/captured.hpp>
#include <duplex/torch/modules.hpp>

#include <torch/nn/modules/linear.h>

#include <thread>

namespace duplex::testing {
namespace {

using List = std::vector<at::Tensor>;

constexpr std::int64_t ridge_rows = 60;
constexpr std::int64_t ridge_features = 4;

/// Ridge regression, F on validation rows and f on training rows with the penalty e^x per feature.
struct RidgeData {
  at::Tensor training = normal({ridge_rows, ridge_features}, 1);
  at::Tensor validation = normal({ridge_rows, ridge_features}, 2);
  at::Tensor truth = at::linspace(-1, 1, ridge_features, at::kDouble);
  at::Tensor training_targets = training.mv(truth) + 0.1 * normal({ridge_rows}, 3);
  at::Tensor validation_targets = validation.mv(truth) + 0.1 * normal({ridge_rows}, 4);
  Tensors start = Tensors({at::zeros(ridge_features, at::kDouble)});

  static at::Tensor normal(at::IntArrayRef shape, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    Tensors numbers({at::empty(shape, at::kDouble)});
    fill_normal(generator, numbers);
    return numbers[0];
  }
  static at::Tensor misfit(const at::Tensor &rows, const at::Tensor &targets, const at::Tensor &y) {
    return 0.5 * (rows.mv(y) - targets).square().mean();
  }
  static at::Tensor penalty(const at::Tensor &x, const at::Tensor &y) { return 0.5 * (x.exp() * y.square()).sum(); }

  [[nodiscard]] TensorProblem whole() const {
    return {[d = *this](const auto &x, const auto &y) {
              return misfit(d.validation, d.validation_targets, y[0]) + 0.005 * x[0].square().sum();
            },
            [d = *this](const auto &x, const auto &y) {
              return misfit(d.training, d.training_targets, y[0]) + penalty(x[0], y[0]);
            },
            start, start};
  }

  /// The sample: numbers of rows, one list for each level.
  [[nodiscard]] SampledTensorProblem sampled(const TensorDraw &draw) const {
    return {[d = *this](auto &x, auto &y, auto &sample) {
              return misfit(d.validation.index_select(0, sample[1]), d.validation_targets.index_select(0, sample[1]),
                            y[0]) +
                     0.005 * x[0].square().sum();
            },
            [d = *this](auto &x, auto &y, auto &sample) {
              return misfit(d.training.index_select(0, sample[0]), d.training_targets.index_select(0, sample[0]),
                            y[0]) +
                     penalty(x[0], y[0]);
            },
            draw, start, start};
  }
  [[nodiscard]] SampledTensorProblem batches(std::int64_t size) const {
    return sampled([size](std::mt19937_64 &generator) {
      return List{random_rows(generator, size, ridge_rows), random_rows(generator, size, ridge_rows)};
    });
  }
};

template <class P, class S> State<Tensors> end_of(const P &problem, const S &solver, const Options &options) {
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, options);
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return state;
}

bool same_numbers(const State<Tensors> &a, const State<Tensors> &b) {
  return same_bits(entries_of(a.x), entries_of(b.x)) && same_bits(entries_of(a.y), entries_of(b.y)) &&
         same_bits(entries_of(a.v), entries_of(b.v));
}

constexpr Bagdc gentle{.alpha = 0.02, .beta = 0.05, .eta = 0.05, .dual = DualStep::constant};

TEST(SampledProblemRefuses, DrawsThatAreNoSample) {
  const RidgeData data;
  EXPECT_CONTAINS(refusal([&] { (void)data.sampled([](auto &) { return List{}; }); }), "draw: gives no tensors");
  EXPECT_CONTAINS(refusal([&] { (void)data.sampled([](auto &) { return List{at::Tensor()}; }); }),
                  "draw: tensor 0 is undefined");
  EXPECT_CONTAINS(refusal([&] { (void)data.sampled([](auto &) { return List{at::ones(2).mm(at::ones(3))}; }); }),
                  "draw: ");
  EXPECT_CONTAINS(refusal([&] { (void)data.sampled([](auto &) {
                                  return List{at::ones(3), at::ones(3)};
                                }); }),
                  "lower: ");
  EXPECT_CONTAINS(refusal([] {
                    std::mt19937_64 generator(1);
                    (void)random_rows(generator, 5, 4);
                  }),
                  "random_rows: 5 of 4 rows");
}

TEST(SampledProblemRefuses, ADrawThatIsUnlikeTheFirst) {
  const RidgeData data;
  const auto after_some = [&](const List &other) {
    const auto problem = data.sampled([other, calls = std::make_shared<int>(0)](auto &) {
      return ++*calls > 5 ? other : List{at::arange(8), at::arange(8)};
    });
    auto state = problem.start();
    return refusal([&] { (void)run_steps(problem, gentle, state, 10); });
  };
  EXPECT_CONTAINS(after_some({at::arange(8), at::arange(7)}), "draw: tensor 1 is [7] of Long, in the first draw it was "
                                                              "[8] of Long");
  EXPECT_CONTAINS(after_some({at::arange(8, at::kInt), at::arange(8)}), "draw: tensor 0 is [8] of Int");
  EXPECT_CONTAINS(after_some({at::arange(8)}), "draw: gives 1 tensors, the first draw gave 2");
  EXPECT_EQ(after_some({at::arange(8), at::arange(8)}), "");
}

TEST(SampledProblemRefuses, AStartOfAnotherShape) {
  const auto problem = RidgeData().batches(8);
  State<Tensors> state{
      Tensors({at::zeros(ridge_features, at::kDouble)}), Tensors({at::zeros({2, 2}, at::kDouble)}), {}};
  EXPECT_CONTAINS(refusal([&] { (void)run_steps(problem, gentle, state, 1); }), "tensor 0 of y is [2, 2]");
}

TEST(RandomRows, AreDifferentRowsAndAllOfThemInTheEnd) {
  std::mt19937_64 generator(3);
  std::vector<int> counts(10, 0);
  for (int i = 0; i < 1000; ++i) {
    const auto rows = random_rows(generator, 4, 10);
    EXPECT_EQ(std::get<0>(at::_unique(rows)).numel(), 4);
    for (std::int64_t j = 0; j < 4; ++j) {
      ++counts.at(static_cast<std::size_t>(rows[j].item<std::int64_t>()));
    }
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 400, 80);
  }
}

TEST(SampledProblem, OnAllRowsHasTheBitsOfTheWhole) {
  const RidgeData data;
  const auto problem = data.sampled([](auto &) { return List{at::arange(ridge_rows), at::arange(ridge_rows)}; });
  const auto whole = data.whole();
  const auto expect_the_same_bits = [&](const auto &solver) {
    const Options options{.max_iterations = 30};
    EXPECT_TRUE(same_numbers(end_of(problem, solver, options), end_of(whole, solver, options))) << solver.name;
  };
  expect_the_same_bits(gentle);
  expect_the_same_bits(Bagdc{.alpha = 0.1, .beta = 0.2, .mu = 0.2});
  expect_the_same_bits(Rhg{.inner = 4});
  expect_the_same_bits(Cg{.inner = 4});
  expect_the_same_run(problem, whole, gentle, 30, 0.0);
}

TEST(SampledProblem, IsRepeatedByItsSeedAloneAndBesideOthers) {
  const auto problem = RidgeData().batches(8);
  const auto run = [&](std::uint64_t seed) { return end_of(problem, gentle, {.max_iterations = 60, .seed = seed}); };
  const std::vector<State<Tensors>> alone{run(0), run(1)};
  EXPECT_TRUE(same_numbers(run(1), alone[1]));
  EXPECT_FALSE(same_numbers(alone[0], alone[1]));
  std::vector<State<Tensors>> beside(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    threads.emplace_back([&, i] { beside[i] = run(i); });
  }
  for (auto &thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(same_numbers(beside[0], alone[0]));
  EXPECT_TRUE(same_numbers(beside[1], alone[1]));
}

TEST(SampledProblem, ApproachesTheAnswerOfTheWhole) {
  const RidgeData data;
  Bagdc quicker = gentle;
  quicker.alpha = 0.1;
  const Vec answer = entries_of(end_of(data.whole(), Bagdc{.alpha = 1.0, .beta = 0.3}, {.max_iterations = 800}).x);
  const Vec found = entries_of(end_of(data.batches(20), quicker, {.max_iterations = 2500}).x);
  EXPECT_LT(relative_error(found, answer), 0.2);
}

TEST(SampledProblem, NeedsNoMoreMemoryForMoreSteps) {
  EXPECT_LT(GrowthWatch::of_run(resident_bytes, RidgeData().batches(8), gentle, 2000), 1 << 20);
}

TEST(SampledProblem, DrawsIntoTheSameMemory) {
  const auto problem = RidgeData().batches(8);
  Drawn<SampledTensorProblem> drawn(problem, 1);
  const void *memory = drawn.draw()[0].data_ptr();
  const auto before = drawn.draw()[0].clone();
  drawn.next();
  EXPECT_EQ(drawn.draw()[0].data_ptr(), memory);
  EXPECT_FALSE(drawn.draw()[0].equal(before));
  const auto report = check(drawn);
  EXPECT_TRUE(report.passes()) << report.table();
}

TEST(SampledProblem, IsMadeFromModulesToo) {
  torch::nn::Linear features(torch::nn::LinearOptions(3, 2));
  torch::nn::Linear head(torch::nn::LinearOptions(2, 1));
  features->to(at::kDouble);
  head->to(at::kDouble);
  const auto rows = RidgeData::normal({ridge_rows, 3}, 7);
  const auto loss = [rows](auto &x, auto &y, auto &sample) {
    const auto batch = rows.index_select(0, sample[0]);
    return (y->forward(x->forward(batch)).squeeze(1) - batch.sum(1)).square().mean();
  };
  const auto draw = [](std::mt19937_64 &generator) { return List{random_rows(generator, 8, ridge_rows)}; };
  const auto problem = module_problem(features, head, loss, loss, draw);
  const auto run = [&] { return end_of(problem, gentle, {.max_iterations = 40, .seed = 3}); };
  EXPECT_TRUE(same_numbers(run(), run()));
}

} // namespace
} // namespace duplex::testing
