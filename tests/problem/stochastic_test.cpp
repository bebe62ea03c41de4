// Runs that draw a sample at every step: what they see, that seeds repeat them, and where they go.

#include "noisy_problem.hpp"

#include <thread>

namespace duplex::testing {
namespace {

template <class P, class S> State<Vec> after(const P &problem, const S &solver, const Options &options) {
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, options);
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return state;
}

template <class Visit> void with_each_solver(const Visit &visit) {
  visit(Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::constant});
  visit(Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::polak_ribiere, .mu = 0.2});
  visit(Nosa{});
  visit(Rhg{.inner = 4});
  visit(Bda{.inner = 4});
  visit(Cg{.inner = 4});
  visit(Neumann{.inner = 4});
  visit(STfbo{});
  visit(Soba{});
  visit(MaSoba{});
  visit(F2sa{.inner = 4});
  visit(Pbgd{.inner = 4});
  visit(Bome{.inner = 4});
  visit(Meha{});
  visit(DTfbo{.inner = 4});
}

TEST(StochasticRun, RefusesWrongOptionsAndStartsAsAnyRun) {
  const Noisy problem(10, 3, 2);
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, Bagdc{.alpha = -1.0, .beta = 0.2}, state); }), "alpha = -1");
  state.y = Vec::Zero(5);
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, with_given_steps, state); }), "y has 5 entries");
}

TEST(StochasticRun, DrawsOnceForEveryStep) {
  with_each_solver([](const auto &solver) {
    const Noisy problem(10, 3, 2);
    (void)after(problem, solver, {.max_iterations = 7});
    EXPECT_EQ(problem.draws(), 7) << solver.name;
  });
}

TEST(StochasticRun, OnAllOfTheDataHasTheBitsOfTheDeterministicOne) {
  const Noisy problem(10, 3, 10);
  with_each_solver([&](const auto &solver) {
    const Options options{.max_iterations = 50, .seed = 4};
    EXPECT_TRUE(same_bits(after(problem, solver, options), after(NoisyInWhole(problem), solver, options)))
        << solver.name;
  });
}

TEST(StochasticRun, IsRepeatedByItsSeedAndByNoOther) {
  const Noisy problem(10, 3, 2);
  with_each_solver([&](const auto &solver) {
    const auto with_seed = [&](std::uint64_t seed) {
      return after(problem, solver, {.max_iterations = 50, .seed = seed});
    };
    const auto one = with_seed(1);
    EXPECT_TRUE(same_bits(one, with_seed(1))) << solver.name;
    EXPECT_FALSE(same_bits(one, with_seed(2))) << solver.name;
  });
}

TEST(StochasticRun, IsTheSameBesideOthersOnOneProblem) {
  const Noisy problem(10, 3, 2);
  const auto run = [&](std::uint64_t seed) {
    return after(problem, with_given_steps, {.max_iterations = 2000, .seed = seed});
  };
  std::vector<State<Vec>> beside(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    threads.emplace_back([&, i] { beside[i] = run(i % 2); });
  }
  for (auto &thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < beside.size(); ++i) {
    EXPECT_TRUE(same_bits(beside[i], run(i % 2))) << i;
  }
}

/// Constant steps wander about x* at a distance of about √α.
TEST(StochasticRun, ApproachesTheAnswerOfTheMeanWithSmallerSteps) {
  const Noisy problem(40, 5, 4);
  const auto error_of = [&](const auto &solver, std::int64_t steps) {
    return relative_error(after(problem, solver, {.max_iterations = steps}).x, problem.answer_x());
  };
  const auto bagdc = [](double alpha) {
    return Bagdc{.alpha = alpha, .beta = 0.02, .eta = 0.02, .dual = DualStep::constant};
  };
  const double of_large = error_of(bagdc(0.3), 20'000);
  const double of_small = error_of(bagdc(1e-3), 20'000);
  EXPECT_LT(of_small, 0.03);
  EXPECT_LT(of_small, 0.5 * of_large);
  EXPECT_LT(error_of(Rhg{.alpha = 1e-3, .beta = 0.05, .inner = 50, .inner_start = InnerStart::cold}, 10'000), 0.15);
}

TEST(StochasticRun, MeasuresItsToleranceOnTheWholeWhereThatIsKnown) {
  const NoisyKnownInWhole problem(40, 5, 20);
  auto state = problem.start();
  const Bagdc solver{.alpha = 2e-3, .beta = 0.02, .eta = 0.02, .dual = DualStep::constant};
  const Options options{.max_iterations = 100'000, .kkt_tolerance = 0.05};
  const auto summary = solve(problem, solver, state, options);
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  EXPECT_LE(KktResidual(problem).at(state.x, state.y, state.v).residual(), 0.05);
}

TEST(StochasticRun, SaysWhereASampleBrokeIt) {
  const Noisy problem(40, 5, 4);
  auto state = problem.start();
  EXPECT_CONTAINS(solve(problem, Bagdc{.alpha = 0.1, .beta = 9.0}, state).message,
                  "the steps of y are too long, beta = 9");
}

TEST(Drawn, IsAProblemWhoseDerivativesCanBeChecked) {
  const Noisy problem(10, 3, 2);
  Drawn<Noisy> drawn(problem, 7);
  const auto before = drawn.draw();
  const void *memory = drawn.draw().data();
  EXPECT_TRUE(check(drawn).passes());
  drawn.next();
  EXPECT_NE(drawn.draw(), before);
  EXPECT_EQ(drawn.draw().data(), memory);
}

} // namespace
} // namespace duplex::testing
