// Runs that are saved and gone on with: the same bits as those that were not interrupted.

#include "support.hpp"

#include "noisy_problem.hpp"
#include "saved_run.hpp"

#include <duplex/catalog.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problems/counter_example.hpp>
#include <duplex/problems/hyper_cleaning.hpp>
#include <duplex/problems/quadratic.hpp>

#include <algorithm>
#include <cstdint>

namespace duplex::testing {
namespace {

auto some_quadratic() { return QuadraticSettings{.n = 7, .m = 5, .seed = 3}.make<double>(); }

TEST(SavedRun, OfAnotherSolverOrSizeIsRefused) {
  const auto problem = some_quadratic();
  const SavedState saved = saved_after(problem, Nosa{.alpha = 0.01, .beta = 0.1}, 3);
  const Saving saving{.from = &saved};
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, Automatic{}, state, {.saving = &saving}); }),
                  "of the solver nosa, expected automatic");
  const auto larger = QuadraticSettings{.n = 8, .m = 5, .seed = 3}.make<double>();
  auto other = larger.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(larger, Nosa{}, other, {.saving = &saving}); }), "'x'");
  SavedState poor = saved;
  poor = SavedState();
  poor.put("solver", std::string("nosa"));
  const Saving from_little{.from = &poor};
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, Nosa{}, state, {.saving = &from_little}); }), "has no 'x'");
}

TEST(SavedRun, GoesOnToTheSameBitsWithEverySolver) {
  const auto problem = some_quadratic();
  AllSolvers::each([&]<class S>() {
    for (const auto method :
         {UpperMethod::gradient, UpperMethod::momentum, UpperMethod::adam, UpperMethod::normalized}) {
      S solver = with_steps<S>(0.01, 0.1);
      if (solver.traits().chooses_its_steps()) { // it is at its end by then, and has a test of its own
        return;
      }
      if constexpr (requires { solver.upper; }) {
        solver.upper.method = method;
      }
      expect_same_bits(problem, solver, std::string(S::name) + ", " + std::string(name_of(method)));
    }
  });
}

TEST(SavedRun, GoesOnToTheSameBitsWithEveryKindOfMultiplierStepAndMixing) {
  const auto problem = some_quadratic();
  for (const auto dual : {DualStep::constant, DualStep::adaptive, DualStep::relaxed, DualStep::polak_ribiere}) {
    expect_same_bits(problem, Bagdc{.alpha = 0.01, .beta = 0.1, .eta = 0.1, .dual = dual}, field_text(dual));
  }
  expect_same_bits(problem, Bagdc{.alpha = 0.01, .beta = 0.1, .eta = 0.1, .dual = DualStep::constant, .mixing = 4},
                   "mixing");
  expect_same_bits(problem, Bagdc{.alpha = 0.001, .beta = 0.1, .mu = 0.3}, "aggregated");
}

TEST(SavedRun, GoesOnToTheSameBitsWithAutomaticSteps) {
  const auto quadratic = QuadraticSettings{.n = 17, .m = 25, .condition = 1e3, .seed = 3}.make<double>();
  for (const std::int64_t saved_at : {1, 2, 5}) {
    expect_same_bits(quadratic, Automatic{}, "quadratic", saved_at);
    expect_same_bits(bent(), Automatic{.tolerance = 1e-9}, "bent", saved_at);
    expect_same_bits(MultipleMinimizers<double>(1001, 0.01), Automatic{}, "many minimizers, by mu",
                     std::min<std::int64_t>(saved_at, 3));
  }
  expect_same_bits(MultipleMinimizers<double>(4, 0.01), Automatic{}, "many minimizers, chosen by the upper level", 1);
}

TEST(SavedRun, GoesOnToTheSameBitsWithColdInnerLoops) {
  const auto problem = some_quadratic();
  expect_same_bits(problem, Rhg{.alpha = 0.01, .beta = 0.1, .inner = 4, .inner_start = InnerStart::cold}, "rhg");
  expect_same_bits(problem, Neumann{.alpha = 0.01, .beta = 0.1, .inner = 4, .inner_start = InnerStart::cold}, "ns");
}

TEST(SavedRun, GoesOnToTheSameBitsWithFusedSteps) {
  const Mat matrix = Mat::Identity(40, 40) + Mat::Constant(40, 40, 0.05);
  const CounterExample<double, DenseSpd<double>> dense(DenseSpd<double>(matrix), Vec::Ones(40));
  const CounterExample<double, IdentityMatrix> identity(IdentityMatrix(700), Vec::Ones(700));
  for (const auto dual : {DualStep::constant, DualStep::relaxed}) {
    const Bagdc solver{.alpha = 0.1, .beta = 0.2, .eta = 0.3, .dual = dual};
    expect_same_bits(dense, solver, "dense, " + field_text(dual));
    expect_same_bits(identity, solver, "identity, " + field_text(dual));
    expect_same_bits(AnyProblem<Vec>(dense), solver, "a problem without its type, " + field_text(dual));
    expect_same_bits(HyperCleaningSettings{}.generate<double>(), solver, "hyper-cleaning, " + field_text(dual));
  }
}

TEST(SavedRun, GoesOnWithTheSamplesThatItWouldHaveDrawn) {
  expect_same_bits(Noisy(30, 3, 4), Bagdc{.alpha = 0.05, .beta = 0.2}, "noisy");
}

TEST(SavedRun, IsSavedEverySoManyStepsAndAtTheEnd) {
  const auto problem = some_quadratic();
  std::vector<std::int64_t> at;
  const Saving saving{
      .save = [&](const SavedState &state) { at.push_back(state.first<SavedState::Integers>("iterations")); },
      .every_steps = 4,
      .every_seconds = infinity};
  auto state = problem.start();
  (void)solve(problem, Bagdc{.alpha = 0.01, .beta = 0.1}, state, {.max_iterations = 10, .saving = &saving});
  EXPECT_EQ(at, (std::vector<std::int64_t>{4, 8, 10}));
}

TEST(SavedRun, ThatHadConvergedStaysWhereItWas) {
  const auto problem = some_quadratic();
  SavedState last;
  const Saving first{.save = [&](const SavedState &saved) { last = saved; }};
  const Bagdc solver{.alpha = 0.02, .beta = 0.1};
  auto state = problem.start();
  const auto summary =
      solve(problem, solver, state, {.max_iterations = 100000, .direction_tolerance = 1e-3, .saving = &first});
  ASSERT_EQ(summary.termination, Termination::direction_tolerance);
  const Saving again{.from = &last};
  auto other = problem.start();
  const auto second =
      solve(problem, solver, other, {.max_iterations = 100000, .direction_tolerance = 1e-3, .saving = &again});
  EXPECT_EQ(second.termination, Termination::direction_tolerance);
  EXPECT_EQ(second.iterations, summary.iterations);
  EXPECT_TRUE(other.x == state.x);
}

} // namespace
} // namespace duplex::testing
