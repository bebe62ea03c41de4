// Where a run is: how accurate d is there, and when it is computed anew.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/current_point.hpp>

namespace duplex::testing {
namespace {

using automatic::CurrentPoint;
namespace rule = automatic::rule;

struct AtStart {
  Vec spectrum = log_spaced_spectrum<double>(10, 20.0, 0.2);
  CounterExample<double, DiagonalSpd<double>> problem{DiagonalSpd<double>(spectrum), Vec(Vec::Ones(10)), 0.0};
  CurrentPoint<Vec> current{ProblemView<Vec>(problem), problem.start(), 20};

  AtStart() { current.state().x.setConstant(0.3); }

  [[nodiscard]] Vec truth() { return current.state().x - Vec::Ones(10) + current.state().x.cwiseQuotient(spectrum); }
  [[nodiscard]] std::int64_t refreshes() const {
    automatic::Findings found;
    current.report(found);
    return found.refreshes;
  }
};

TEST(TheCurrentPoint, SaysThatTheLowerHessianIsSingular) {
  const MultipleMinimizers<double> problem(1001, 0.01); // too many for the upper level to choose
  auto start = problem.start();
  start.y.setConstant(0.5); // F has a slope along which f has none
  CurrentPoint<Vec> current(ProblemView<Vec>(problem), start, 10);
  EXPECT_EQ(current.begin(), LinearStatus::singular);
  current.aggregate(0.5);
  EXPECT_EQ(current.begin(), LinearStatus::converged);
  EXPECT_EQ(current.mu(), 0.5);
}

TEST(TheCurrentPoint, SolvesMoreTightlyDownToALimit) {
  AtStart at;
  EXPECT_EQ(at.current.allowed_error(1.0), rule::first_share);
  at.current.tighten();
  EXPECT_DOUBLE_EQ(at.current.allowed_error(2.0), 2.0 * 0.3 * rule::first_share);
  for (int i = 0; i < 100; ++i) {
    at.current.tighten(0.5);
  }
  EXPECT_EQ(at.current.allowed_error(1.0), rule::smallest_share);
}

TEST(TheCurrentPoint, WhoseFirstSlopeWasFarTooLargeIsComputedAnewUntilItIsTheSlope) {
  AtStart at;
  at.current.state().y.setConstant(1e9);
  ASSERT_EQ(at.current.begin(), LinearStatus::converged);
  EXPECT_GT(at.current.slope(), 1e3 * at.truth().norm()) << "right to a per cent of how far y has moved";
  ASSERT_EQ(at.current.refresh_to_share(0.01), LinearStatus::converged);
  EXPECT_LE((at.current.d() - at.truth()).norm(), 0.03 * at.truth().norm());
}

TEST(TheCurrentPoint, ThatBeginsWhereYAndVAreKnownSolvesForNeither) {
  AtStart at;
  SlopeMeter<Vec> truth{ProblemView<Vec>(at.problem)};
  ASSERT_TRUE(truth.at(at.current.state().x, at.current.state().y, {.relative = 1e-3}).known());
  at.current.begin_at(truth);
  ASSERT_EQ(at.current.begin(), LinearStatus::converged);
  EXPECT_EQ(at.current.hypergradient().work().y_steps, 0);
  EXPECT_EQ(at.current.hypergradient().work().v_steps, 0);
  EXPECT_LE((at.current.d() - at.truth()).norm(), 1e-12);
}

TEST(TheCurrentPoint, IsComputedAnewAfterManyStepsAtTheLatest) {
  AtStart at;
  ASSERT_EQ(at.current.begin(), LinearStatus::converged);
  ASSERT_EQ(at.current.refresh(1e-9), LinearStatus::converged);
  const auto before = at.refreshes();
  for (int k = 1; k < rule::most_steps_without_refresh; ++k) {
    ASSERT_EQ(at.current.refresh_if_due(), LinearStatus::converged);
  }
  EXPECT_EQ(at.refreshes(), before);
  ASSERT_EQ(at.current.refresh_if_due(), LinearStatus::converged);
  EXPECT_EQ(at.refreshes(), before + 1);
}

TEST(TheCurrentPoint, IsComputedAnewWhereItsErrorIsLargeBesideD) {
  AtStart at;
  ASSERT_EQ(at.current.begin(), LinearStatus::converged);
  at.current.estimate().v_error = 10.0 * at.current.slope();
  const auto before = at.refreshes();
  ASSERT_EQ(at.current.refresh_if_due(), LinearStatus::converged);
  EXPECT_EQ(at.refreshes(), before + 1);
  EXPECT_FALSE(at.current.is_blurred());
}

TEST(TheCurrentPoint, AdaptsItsAccuracyToHowFarDWasOff) {
  AtStart at;
  ASSERT_EQ(at.current.begin(), LinearStatus::converged);
  ASSERT_EQ(at.current.refresh(1e-9), LinearStatus::converged);
  at.current.estimate().v_error = 1e9;
  ASSERT_EQ(at.current.refresh_if_due(), LinearStatus::converged); // d was right: looser
  EXPECT_DOUBLE_EQ(at.current.allowed_error(1.0), 1.2 * rule::first_share);
  at.current.estimate().v_error = 1e9;
  at.current.estimate().d *= 3.0;
  ASSERT_EQ(at.current.refresh_if_due(), LinearStatus::converged); // it was not: tighter
  EXPECT_DOUBLE_EQ(at.current.allowed_error(1.0), 0.6 * rule::first_share);
  EXPECT_LE((at.current.d() - at.truth()).norm(), 0.1 * at.truth().norm());
}

TEST(TheCurrentPoint, TakesWhatWasMeasuredByOtherMeans) {
  AtStart at;
  at.current.state().x = random_vector(10, 3);
  SlopeMeter<Vec> meter{ProblemView<Vec>(at.problem)};
  ASSERT_TRUE(meter.at(at.current.state().x, Vec::Zero(10), {}).known());
  at.current.take(meter);
  EXPECT_LE((at.current.d() - at.truth()).norm(), 1e-12);
  EXPECT_LE(relative_error(at.current.state().y, at.current.state().x.cwiseQuotient(at.spectrum)), 1e-12);
  EXPECT_NEAR(at.current.distance_from(Vec::Zero(10)), at.current.state().x.norm(), 1e-14);
}

TEST(TheCurrentPoint, ThatIsRestoredIsTheSame) {
  AtStart at;
  ASSERT_EQ(at.current.begin(), LinearStatus::converged);
  at.current.tighten();
  AtStart other;
  read_back(written(at.current), other.current);
  EXPECT_TRUE(same_bits(other.current.d(), at.current.d()));
  EXPECT_EQ(other.current.allowed_error(1.0), at.current.allowed_error(1.0));
  ASSERT_EQ(other.current.refresh(1e-6), at.current.refresh(1e-6));
  EXPECT_TRUE(same_bits(other.current.d(), at.current.d()));
}

} // namespace
} // namespace duplex::testing
