// Linear solves with H assembled where it was: exact in a step where it has not changed, and renewed where that pays.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/direct_solver.hpp>

namespace duplex::testing {
namespace {

using automatic::DirectSolver;

struct Diagonal {
  Vec values;
  int products = 0;

  void at(const Vec & /*x*/, const Vec & /*y*/) {}
  void hess_yy(const Vec &in, Vec &out) {
    ++products;
    out = values.cwiseProduct(in);
  }
};

struct DirectSolving {
  Diagonal level;
  Vec x = Vec::Zero(2);
  Vec y;
  DirectSolver<Vec> solver;
  Vec residual;
  Vec solution;

  explicit DirectSolving(const Vec &values)
      : level{values}, y(Vec::Zero(values.size())), solver(x, y), residual(y), solution(y) {}

  [[nodiscard]] auto product() {
    return [this](const Vec &in, Vec &out) { level.hess_yy(in, out); };
  }
  LinearStatus assemble() { return solver.assemble(product(), x, y); }
  automatic::InnerReport solve(const Vec &right, double relative) {
    residual = right;
    solution.setZero();
    level.products = 0;
    return solver.solve(product(), x, y, residual, solution, {.relative = relative});
  }
  [[nodiscard]] double error(const Vec &right) const { return (solution - right.cwiseQuotient(level.values)).norm(); }
};

TEST(ADirectSolver, SaysThatAProductIsNotFinite) {
  DirectSolving run(Vec::LinSpaced(6, 1.0, 2.0));
  EXPECT_EQ(run.assemble(), LinearStatus::converged);
  run.level.values[3] = std::nan("");
  EXPECT_EQ(run.solve(Vec::Ones(6), 1e-6).status, LinearStatus::not_finite);
}

TEST(ADirectSolver, OutlivesANumberThatIsNotFiniteWhileHIsAssembled) {
  DirectSolving run(Vec::LinSpaced(6, 1.0, 2.0));
  run.level.values[3] = std::nan("");
  EXPECT_EQ(run.assemble(), LinearStatus::not_finite);
  EXPECT_EQ(run.solve(Vec::Ones(6), 1e-6).status, LinearStatus::not_finite);
}

TEST(ADirectSolver, DoesNotBelieveAnErrorFromAnHThatHasBecomeFlatter) {
  DirectSolving run(Vec::Constant(6, 1e4));
  ASSERT_EQ(run.assemble(), LinearStatus::converged);
  run.solver.note_that_h_changes();
  run.level.values = Vec::LinSpaced(6, 1.0, 2.0);
  run.x = Vec::Ones(2);
  const Vec right = Vec::Ones(6);
  run.residual = right;
  const auto report =
      run.solver.solve(run.product(), run.x, run.y, run.residual, run.solution, {.absolute = 1e-3}); // ‖Mr‖ is less
  EXPECT_LE(run.error(right), 1e-3);
  EXPECT_LE(run.error(right), report.error);
}

TEST(ADirectSolver, NeedsOneStepWhereHHasNotChanged) {
  DirectSolving run(log_spaced_spectrum<double>(30, 1e10, 1e-5));
  ASSERT_EQ(run.assemble(), LinearStatus::converged);
  const Vec right = random_vector(30, 1);
  const auto report = run.solve(right, 1e-9);
  EXPECT_EQ(report.status, LinearStatus::converged);
  EXPECT_LE(run.level.products, 2);
  EXPECT_LE(run.error(right), 1e-8 * run.solution.norm());
  EXPECT_EQ(run.solver.assemblies(), 1);
}

TEST(ADirectSolver, NeedsAFewStepsWhereHHasChangedAndTellsItsError) {
  DirectSolving run(log_spaced_spectrum<double>(50, 1e4, 1.0));
  ASSERT_EQ(run.assemble(), LinearStatus::converged);
  run.level.values = run.level.values.cwiseProduct(Vec::LinSpaced(50, 0.5, 2.0));
  const Vec right = random_vector(50, 2);
  const auto report = run.solve(right, 1e-6);
  EXPECT_EQ(report.status, LinearStatus::converged);
  EXPECT_LE(run.level.products, 14);
  EXPECT_LE(run.error(right), 3.0 * report.error);
  EXPECT_LE(run.error(right), 1e-5 * run.solution.norm());
}

TEST(ADirectSolver, AssemblesHAnewOnceItsStepsHaveCostAsMuch) {
  DirectSolving run(Vec::Ones(20));
  ASSERT_EQ(run.assemble(), LinearStatus::converged);
  run.level.values = log_spaced_spectrum<double>(20, 1e6, 1.0);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Vec right = random_vector(20, seed);
    EXPECT_EQ(run.solve(right, 1e-8).status, LinearStatus::converged);
    EXPECT_LE(run.error(right), 1e-6 * run.solution.norm());
  }
  EXPECT_EQ(run.solver.assemblies(), 2);
  EXPECT_LE(run.level.products, 2) << "and one step a solve from then on";
}

TEST(ADirectSolver, AssemblesHBeforeTheNextSolveWhereItIsWanted) {
  DirectSolving run(Vec::LinSpaced(20, 1.0, 3.0));
  EXPECT_FALSE(run.solver.is_wanted());
  run.solver.want();
  DirectSolving other(run.level.values);
  read_back(written(run.solver), other.solver);
  EXPECT_TRUE(other.solver.is_wanted());
  const Vec right = random_vector(20, 5);
  EXPECT_EQ(run.solve(right, 1e-9).status, LinearStatus::converged);
  EXPECT_LE(run.error(right), 1e-9 * run.solution.norm());
  EXPECT_EQ(run.solver.assemblies(), 1);
  EXPECT_FALSE(run.solver.is_wanted());
  EXPECT_NEAR(run.solver.rounding_of_gradient(Vec::Unit(20, 19)), 3.0 * 100.0 * 2.2e-16, 1e-15);
  run.solver.want();
  run.level.values[3] = std::nan("");
  EXPECT_EQ(run.solve(right, 1e-9).status, LinearStatus::not_finite);
  EXPECT_FALSE(run.solver.is_ready());
}

TEST(ADirectSolver, WhereHHasBecomeIndefiniteSaysSoAndMovesDownhill) {
  DirectSolving run(Vec::Ones(5));
  ASSERT_EQ(run.assemble(), LinearStatus::converged);
  run.level.values[2] = -3.0;
  const Vec downhill = random_vector(5, 3);
  EXPECT_EQ(run.solve(downhill, 1e-6).status, LinearStatus::indefinite);
  EXPECT_GT(run.solution.dot(downhill), 0.0);
}

TEST(ADirectSolver, ThatIsRestoredGivesTheSameBits) {
  DirectSolving run(log_spaced_spectrum<double>(10, 1e3, 1.0));
  run.x = random_vector(2, 7);
  ASSERT_EQ(run.assemble(), LinearStatus::converged);
  DirectSolving other(run.level.values);
  read_back(written(run.solver), other.solver);
  other.solver.restore(other.level);
  EXPECT_TRUE(other.solver.is_ready());
  const Vec right = random_vector(10, 4);
  run.level.values *= 1.1;
  other.level.values = run.level.values;
  (void)run.solve(right, 1e-7);
  (void)other.solve(right, 1e-7);
  EXPECT_TRUE(same_bits(run.solution, other.solution));
}

} // namespace
} // namespace duplex::testing
