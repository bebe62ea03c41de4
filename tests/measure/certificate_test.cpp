// What the end of a run is worth, by means that no method uses.

#include "quadratic_run.hpp"
#include "support.hpp"
#include "two_numbers.hpp"

#include <duplex/run/kept_direction.hpp>

#include <limits>
#include <memory>

namespace duplex::testing {
namespace {

TEST(Certificate, RefusesNoDirections) {
  const auto problem = small_quadratic.generate<double>();
  EXPECT_EQ(refusal([&] { (void)certify(problem, problem.start(), problem.start(), {.directions = 0}); }),
            "certificate: directions = 0, expected >= 1");
}

TEST(Certificate, RefusesADirectionThatIsNotLikeX) {
  const auto problem = small_quadratic.generate<double>();
  const auto refused = [&](const Vec &x, const Vec &d) {
    return refusal([&] {
      (void)certify(problem, problem.start(), problem.start(), {}, LastDirection<Vec>{.x = x, .direction = d});
    });
  };
  const Index size = problem.x_size();
  EXPECT_CONTAINS(refused(Vec::Ones(size), Vec::Ones(size + 1)), "certificate: a last direction of ");
  EXPECT_CONTAINS(refused(Vec::Ones(size - 1), Vec::Ones(size)), "certificate: a last direction of ");
  EXPECT_EQ(refused(Vec::Ones(size), Vec::Ones(size)), "");
}

TEST(Certificate, DecidesNothingByDifferencesThatCouldNotBeHad) {
  Certificate certificate;
  certificate.difference_error = infinity;
  certificate.difference_tolerance = 1e-6;
  EXPECT_FALSE(certificate.differences_decide());
  EXPECT_FALSE(certificate.holds());
  EXPECT_CONTAINS(certificate.text(), "DECIDE NOTHING, φ is not available beside x");
  certificate.difference_error = 0.5;
  EXPECT_CONTAINS(certificate.text(), "DISAGREE");
}

TEST(Certificate, AgreesWithTheKnownAnswer) {
  const auto problem = small_quadratic.generate<double>();
  const auto answer = *problem.answer();
  const auto at_answer = certify(problem, problem.start(), {answer.x, answer.y, answer.v});
  EXPECT_TRUE(at_answer.holds()) << at_answer.text();
  EXPECT_LE(at_answer.hypergradient, 1e-12 * *at_answer.first_hypergradient);
  EXPECT_LE(at_answer.blocks.residual(), 1e-12);
  EXPECT_NEAR(at_answer.value, answer.value, 1e-12 * std::abs(answer.value));
  auto away = problem.start();
  away.x = answer.x + random_vector(problem.x_size(), 1);
  const auto certificate = certify(problem, problem.start(), away);
  EXPECT_TRUE(certificate.holds()) << certificate.text();
  ExactSolver<Quadratic<double>> exact(problem);
  EXPECT_DOUBLE_EQ(certificate.hypergradient, exact.at(away.x, away.y).hypergradient.norm());
  EXPECT_GT(certificate.lower_error, 0.0);
}

/// A quadratic whose upper gradient in x is wrong by a part.
class WrongDerivative {
public:
  using Vector = Vec;
  WrongDerivative(Quadratic<double> problem, double part) : problem_(std::move(problem)), part_(part) {}
  class Upper : public Quadratic<double>::Upper {
  public:
    Upper(const Quadratic<double> &problem, double part) : Quadratic<double>::Upper(problem.upper()), part_(part) {}
    void grad_x(Vec &out) {
      Quadratic<double>::Upper::grad_x(out);
      out *= 1.0 + part_;
    }

  private:
    double part_;
  };
  [[nodiscard]] auto lower() const { return problem_.lower(); }
  [[nodiscard]] Upper upper() const { return {problem_, part_}; }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] State<Vec> start() const { return problem_.start(); }

private:
  Quadratic<double> problem_;
  double part_;
};

TEST(Certificate, IsRefusedToAProblemWithAWrongDerivative) {
  const WrongDerivative problem(small_quadratic.generate<double>(), 1e-3);
  auto state = problem.start();
  (void)solve(problem, calm, state, {.max_iterations = 100'000, .direction_tolerance = 1e-9});
  const auto certificate = certify(problem, problem.start(), state);
  EXPECT_FALSE(certificate.holds()) << certificate.text();
  EXPECT_CONTAINS(certificate.text(), "DISAGREE");
}

TEST(Certificate, DoesNotDependOnTheUnitsOfX) {
  const double unit = 1e-6;
  const InTwoNumbers problem([=](double x, double y) { // φ = F = cos(x/u)
    return Scalars{y - x, 1.0, -1.0, std::cos(x / unit), -std::sin(x / unit) / unit, 0.0};
  });
  const State<Vec> start{Vec::Constant(1, unit), Vec::Constant(1, unit), Vec::Zero(1)};
  const State<Vec> end{Vec::Constant(1, 3.0 * unit), Vec::Constant(1, 3.0 * unit), Vec::Zero(1)};
  const auto certificate = certify(problem, start, end);
  EXPECT_TRUE(certificate.holds()) << certificate.text();
}

TEST(Certificate, IsGivenWhereALongDifferenceLeavesTheDomainOfF) {
  const double unit = 1e-6;
  const InTwoNumbers problem([=](double x, double y) { // φ = F = log(x/u)
    return Scalars{y - x, 1.0, -1.0, std::log(x / unit), 1.0 / x, 0.0};
  });
  const State<Vec> start{Vec::Constant(1, unit), Vec::Constant(1, unit), Vec::Zero(1)};
  const State<Vec> end{Vec::Constant(1, 3.0 * unit), Vec::Constant(1, 3.0 * unit), Vec::Zero(1)};
  const auto certificate = certify(problem, start, end);
  EXPECT_TRUE(certificate.holds()) << certificate.text();
}

TEST(Certificate, IsOfTheMinimizerThatTheRunHasFoundWhateverTheStart) {
  // f = (y² − 1)²/4 with two minimizers, F = x² + (y − 1)²/2; at y = 0 there is no ∇φ, and that of the run's y counts.
  const InTwoNumbers problem([](double x, double y) {
    return Scalars{y * y * y - y, 3.0 * y * y - 1.0, 0.0, x * x + 0.5 * (y - 1.0) * (y - 1.0), 2.0 * x, y - 1.0};
  });
  const State<Vec> end{Vec::Zero(1), Vec::Ones(1), Vec::Zero(1)};
  for (const double y : {-1.0, 0.0}) {
    const State<Vec> start{Vec::Ones(1), Vec::Constant(1, y), Vec::Zero(1)};
    const auto certificate = certify(problem, start, end);
    EXPECT_TRUE(certificate.holds()) << certificate.text();
    EXPECT_EQ(certificate.lower_error, 0.0);
    EXPECT_NEAR(certificate.first_hypergradient.value_or(0.0), 2.0, 1e-12);
  }
}

TEST(Certificate, IsOfTheMinimizerThatTheUpperLevelPrefersWhereTheLowerLevelHasMany) {
  const auto problem = MultipleMinimizersSettings{.n = 4}.make<double>(); // φ = ½‖x − e‖²
  const auto certificate = certify(problem, problem.start(), problem.start());
  EXPECT_TRUE(certificate.holds()) << certificate.text();
  EXPECT_NEAR(certificate.hypergradient, 2.0 * 0.99, 1e-12);
  EXPECT_NEAR(certificate.value, 2.0 * 0.99 * 0.99, 1e-12);
}

TEST(Certificate, SaysWhyThereIsNoneWhereTheLowerLevelHasNoMinimizer) {
  auto data = small_quadratic.generate<double>().data();
  data.lower_hessian.setZero();
  const Quadratic<double> problem(std::move(data));
  const auto certificate = certify(problem, problem.start(), problem.start());
  EXPECT_FALSE(certificate.holds());
  EXPECT_CONTAINS(certificate.unavailable, "singular");
  EXPECT_GT(certificate.blocks.residual(), 0.0);
}

TEST(Certificate, RefutesARunThatEndsWhereTheHypergradientIsNotSmall) {
  const CounterExample problem(IdentityMatrix(3), Vec(Vec::Ones(3)));
  auto state = problem.start();
  const auto summary = solve(problem, Nosa{}, state, {.direction_tolerance = 1e-8});
  ASSERT_EQ(summary.termination, Termination::direction_tolerance);
  const auto certificate = certify(problem, problem.start(), state, {.claims = {.slope = 1e-8}});
  EXPECT_FALSE(certificate.holds());
  EXPECT_TRUE(certificate.is_consistent());
  EXPECT_CONTAINS(certificate.text(), "is REFUTED: ‖∇φ(x)‖ = 1.15");
  EXPECT_FALSE(certify(problem, problem.start(), state, {.claims = {.kkt = 1e-8}}).holds());
  EXPECT_FALSE(certify(problem, problem.start(), state, {.claims = {.relative_slope = 1e-8}}).holds());
  EXPECT_TRUE(certify(problem, problem.start(), state, {.claims = {.slope = 1.2}}).holds());
}

/// φ = ½‖x − e‖² + ½‖x‖² in three entries, where a penalty of c leads to x = 1/(1 + c/(1 + c)).
OnDiagonal half_way() { return {DiagonalSpd<double>(Vec(Vec::Ones(3))), Vec::Ones(3)}; }

template <class S> Certificate certified_end_of(const S &solver, std::int64_t steps) {
  const auto problem = half_way();
  KeptDirection<Vec> kept(solver.traits().penalizes);
  Monitor<Vec> monitor;
  monitor.observers = {&kept};
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, {.max_iterations = steps}, monitor);
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return certify(problem, problem.start(), state, {}, kept.last());
}

TEST(ACertificateOfADirection, TellsTheBiasOfAMethodWithoutSecondDerivatives) {
  for (const double penalty : {10.0, 100.0}) {
    const F2sa solver{.alpha = 0.2, .beta = 0.8, .inner = 60, .penalty = penalty, .penalty_growth = 0.0};
    const auto certificate = certified_end_of(solver, 400);
    ASSERT_TRUE(certificate.direction);
    const double slope = std::sqrt(3.0) / (1.0 + 2.0 * penalty); // |2x − 1| of each entry
    EXPECT_NEAR(certificate.direction->hypergradient, slope, 1e-6);
    EXPECT_NEAR(certificate.direction->error, slope, 1e-6) << "d itself is zero";
    EXPECT_LE(certificate.direction->length, 1e-6);
    EXPECT_CONTAINS(certificate.text(), "which is 100 % of ∇φ");
    EXPECT_CONTAINS(certificate.text(), "that is the bias of a method without second derivatives");
  }
}

TEST(ACertificateOfADirection, SaysWhereABiasIsSmallBesideWhatIsLeftToDescend) {
  const F2sa solver{.alpha = 0.01, .beta = 0.8, .inner = 60, .penalty = 1000.0, .penalty_growth = 0.0};
  const auto certificate = certified_end_of(solver, 3);
  ASSERT_TRUE(certificate.direction);
  EXPECT_LE(certificate.direction->part(), 0.01);
  EXPECT_GT(certificate.direction->error, 0.0);
  EXPECT_CONTAINS(certificate.text(), "here it is small beside what is left to descend");
}

TEST(ACertificateOfADirection, SpeaksOfNoBiasWhereTheMethodHasNone) {
  const auto certificate = certified_end_of(Soba{.alpha = 0.1, .beta = 0.5, .eta = 0.5, .decay = 0.0}, 30);
  ASSERT_TRUE(certificate.direction);
  EXPECT_GT(certificate.direction->error, 0.0) << "v is on its way";
  EXPECT_CONTAINS(certificate.text(), "the run's direction");
  EXPECT_EQ(certificate.text().find("bias"), std::string::npos) << certificate.text();
}

TEST(ACertificateOfADirection, IsNotThereWhereNoneWasGiven) {
  const auto problem = half_way();
  const auto certificate = certify(problem, problem.start(), problem.start());
  EXPECT_FALSE(certificate.direction);
  EXPECT_EQ(certificate.text().find("the run's direction"), std::string::npos);
  EXPECT_FALSE(KeptDirection<Vec>().last());
}

TEST(ACertificateOfADirection, SaysThatABatchHasNoise) {
  const auto problem = half_way();
  const auto start = problem.start();
  const LastDirection<Vec> last{.x = start.x, .direction = Vec::Ones(3), .of_sample = true};
  EXPECT_CONTAINS(certify(problem, start, start, {}, last).text(), "the noise of batches is part of this");
}

} // namespace
} // namespace duplex::testing
