// The hypergradient to an error that is asked for, against closed forms.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/hypergradient.hpp>

namespace duplex::testing {
namespace {

using automatic::Hypergradient;

/// ∇φ = x − z + A⁻¹x.
struct Known {
  Vec spectrum = log_spaced_spectrum<double>(30, 200.0, 0.05);
  Vec target = Vec(Vec::Ones(30));
  CounterExample<double, DiagonalSpd<double>> problem{DiagonalSpd<double>(spectrum), target, 0.0};
  ProblemView<Vec> view{problem};

  [[nodiscard]] Vec truth(const Vec &x) const { return x - target + x.cwiseQuotient(spectrum); }
  [[nodiscard]] automatic::Estimate<Vec> at(std::uint64_t seed) const {
    auto start = problem.start();
    start.x = random_vector(30, seed);
    return automatic::estimate_at(start);
  }
};

TEST(AHypergradient, SaysThatTheLowerHessianIsSingular) {
  const MultipleMinimizers<double> problem(1001, 0.01); // too many for the upper level to choose
  Hypergradient<ProblemView<Vec>> hypergradient(ProblemView<Vec>(problem), problem.start(), 10);
  auto point = automatic::estimate_at(problem.start());
  point.at.y.setConstant(0.5); // F has a slope along which f has none
  EXPECT_EQ(hypergradient.evaluate(point, 0.0), LinearStatus::singular);
}

TEST(AHypergradient, IsRightToTheErrorThatItTells) {
  const Known known;
  Hypergradient<ProblemView<Vec>> hypergradient(known.view, known.problem.start(), 40);
  auto first = known.at(1);
  auto second = known.at(2);
  ASSERT_EQ(hypergradient.evaluate(first, 0.0), LinearStatus::converged);
  hypergradient.gains().learn(first);
  ASSERT_EQ(hypergradient.evaluate(second, 0.0), LinearStatus::converged);
  hypergradient.gains().learn(first, second);
  for (const double level : {1e-1, 1e-3, 1e-6}) {
    auto point = known.at(3);
    ASSERT_EQ(hypergradient.evaluate(point, level), LinearStatus::converged);
    EXPECT_LE(hypergradient.error(point), level);
    EXPECT_LE((point.d - known.truth(point.at.x)).norm(), 10.0 * level);
  }
  EXPECT_GT(hypergradient.work().y_steps, 0);
  EXPECT_GT(hypergradient.work().eta, 0.0);
}

TEST(AHypergradient, TellsAValueWhoseErrorIsOfSecondOrder) {
  const Known known;
  Hypergradient<ProblemView<Vec>> hypergradient(known.view, known.problem.start(), 40);
  auto point = known.at(4);
  const Vec y = point.at.x.cwiseQuotient(known.spectrum); // y* = v*
  const Vec error = 1e-3 * random_vector(30, 5);
  const Vec gradient = known.spectrum.cwiseProduct(error);
  point.at.y = y + error;
  point.at.v = y;
  point.lower_gradient = gradient;
  hypergradient.measure_value(point);
  const double value = 0.5 * (point.at.x - known.target).squaredNorm() + 0.5 * y.dot(point.at.x);
  EXPECT_NEAR(point.value - value, 0.5 * error.dot(gradient), 1e-12);
  EXPECT_LE(std::abs(point.value - value), point.value_noise);
}

TEST(AHypergradient, WithMuIsThatOfTheAggregatedLowerLevel) {
  const MultipleMinimizers<double> problem(2, 0.3);
  Hypergradient<ProblemView<Vec>> hypergradient(ProblemView<Vec>(problem), problem.start(), 10);
  hypergradient.aggregate(0.5);
  EXPECT_EQ(hypergradient.mu(), 0.5);
  auto point = automatic::estimate_at(problem.start());
  ASSERT_EQ(hypergradient.evaluate(point, 0.0), LinearStatus::converged);
  const Aggregated<MultipleMinimizers<double>> aggregated(problem, 0.5, 1.0);
  ExactSolver exact(aggregated);
  const auto &truth = exact.at(point.at.x, point.at.y);
  EXPECT_LE((point.d - truth.hypergradient).norm(), 0.05 * truth.hypergradient.norm() + 1e-12);

  Hypergradient<ProblemView<Vec>> restored(ProblemView<Vec>(problem), problem.start(), 10);
  read_back(written(hypergradient), restored);
  EXPECT_EQ(restored.mu(), 0.5);
  auto again = automatic::estimate_at(problem.start());
  EXPECT_EQ(restored.evaluate(again, 0.0), LinearStatus::converged) << "the saved weight is in force";
}

} // namespace
} // namespace duplex::testing
