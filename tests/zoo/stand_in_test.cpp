// The stand-in and the reference, against closed forms and against differences of φ.

#include "support.hpp"
#include "zoo/family.hpp"
#include "zoo/newton.hpp"
#include "zoo/pricing.hpp"
#include "zoo/reference.hpp"
#include "zoo/separable.hpp"
#include "zoo/stand_in.hpp"

#include <Eigen/LU>

namespace duplex::testing {
namespace {

using RealVector = zoo::VectorOver<long double>;

/// Its ‖∇φ‖ over that at the start, in long double.
double judged(const zoo::Family &family, int k, const Vec &x, const Vec &y) {
  zoo::Reference reference(family);
  return zoo::relative_slope(reference.at_start(k), reference.at(x, y));
}

TEST(ZooReference, SaysWhyItDoesNotKnow) {
  zoo::Reference bounded(zoo::family_named("weights-box"));
  const auto start = zoo::family_named("weights-box").start(0);
  EXPECT_EQ(bounded.at(Vec(2.0 * Vec::Ones(start.x.size())), start.y).why, "x is out of its bounds");
  EXPECT_CONTAINS(bounded.at(Vec(Vec::Constant(start.x.size(), std::nan(""))), start.y).why, "x is not finite");
  EXPECT_EQ(bounded.at(Vec(Vec::Ones(2)), start.y).why, "x is not finite, or of another size");
  zoo::Reference exponential(zoo::family_named("exponential"));
  const auto positive = zoo::family_named("exponential").start(0);
  const auto truth = exponential.at(Vec(-positive.x), positive.y);
  EXPECT_FALSE(truth.is_known);
  EXPECT_CONTAINS(truth.why, "no minimizer");
  EXPECT_EQ(zoo::relative_slope(exponential.at_start(0), truth), infinity);
}

TEST(ZooReference, HasTheClosedFormOfPrices) {
  // φ = −(x − c)·Q⁻¹(a − x), whose gradient vanishes at (a + c)/2 and is linear.
  const auto &family = zoo::family_named("pricing");
  zoo::Reference reference(family);
  const zoo::Pricing<long double> pricing({.goods = 8, .seed = 31});
  const RealVector best = pricing.best_prices();
  const RealVector guess = RealVector::Zero(8);
  const auto there = reference.at(best, guess);
  EXPECT_LE(static_cast<double>(there.slope), 1e-16);
  const RealVector away = best + RealVector::Unit(8, 2);
  const RealVector twice = best + 2.0L * RealVector::Unit(8, 2);
  const auto once_away = reference.at(away, guess);
  const auto twice_away = reference.at(twice, guess);
  EXPECT_LE(static_cast<double>((2.0L * once_away.gradient - twice_away.gradient).norm()), 1e-15);
  EXPECT_GT(once_away.value, there.value);
}

/// ∇φ against differences of φ, both in long double, at a start.
void expect_gradient_of_phi(const std::string &name) {
  SCOPED_TRACE(name);
  const auto &family = zoo::family_named(name);
  zoo::Reference reference(family);
  const auto start = reference.model().start(1);
  const auto there = reference.at_start(1);
  ASSERT_TRUE(there.is_known) << there.why;
  const RealVector step = start.x - reference.model().start(0).x;
  const auto value = [&](long double t) {
    const RealVector x = start.x + t * step;
    const auto truth = reference.at(x, there.y);
    EXPECT_TRUE(truth.is_known) << truth.why;
    return truth.value;
  };
  constexpr long double h = 1e-3L;
  const long double difference = ((value(-2 * h) - value(2 * h)) + 8 * (value(h) - value(-h))) / (12 * h);
  const auto known = static_cast<double>(there.gradient.dot(step));
  EXPECT_NEAR(known, static_cast<double>(difference), 1e-8 * std::abs(known) + 1e-12);
}

TEST(ZooReference, HasTheGradientOfPhi) {
  for (const auto *name : {"logistic-groups", "poisson", "elastic-net", "cleaning", "softmax", "distill-small", "tolls",
                           "portfolio-barrier", "transport", "kernel", "quartic", "network", "denoise-local"}) {
    expect_gradient_of_phi(name);
  }
}

TEST(ZooReference, HasTheGradientOfPhiWhereTheLowerLevelHasManyMinimizers) {
  for (const auto *name : {"singular-15x40", "inconsistent", "transport-gauge"}) {
    expect_gradient_of_phi(name);
  }
}

TEST(ZooReference, DoesNotDependOnTheVariables) {
  zoo::Reference flows(zoo::family_named("tolls"));
  zoo::Reference logarithms(zoo::family_named("tolls-log"));
  const auto in_flows = flows.at_start(2);
  const auto in_logarithms = logarithms.at_start(2);
  ASSERT_TRUE(in_flows.is_known && in_logarithms.is_known);
  EXPECT_LE(static_cast<double>((in_flows.gradient - in_logarithms.gradient).norm() / in_flows.gradient.norm()), 1e-14);
  zoo::Reference held(zoo::family_named("transport"));
  zoo::Reference free(zoo::family_named("transport-gauge"));
  const auto at_held = held.at_start(2);
  const auto at_free = free.at_start(2);
  ASSERT_TRUE(at_held.is_known && at_free.is_known) << at_held.why << at_free.why;
  EXPECT_LE(static_cast<double>((at_held.gradient - at_free.gradient).norm() / at_held.gradient.norm()), 1e-12);
}

TEST(ZooNewton, FindsWhatClosedFormsSay) {
  const zoo::SeparableSettings settings{
      .coupling = {}, .tilt = random_vector(12, 5).reshaped(6, 2), .wanted = Vec::Zero(6), .first_x = Vec::Ones(2)};
  const Vec x = random_vector(2, 6);
  const Vec force = zoo::rounded<double>(settings.tilt) * x;
  const auto minimizer = [&](auto problem) {
    zoo::ModelOf model(problem);
    zoo::Newton<double> newton(model);
    Vec y = model.start(0).y;
    EXPECT_TRUE(newton.minimize(x, y));
    return y;
  };
  EXPECT_LE(relative_error(minimizer(zoo::Separable<double, zoo::Entropy>(settings)), force.array().exp()), 1e-14);
  const Vec root = (force.array() + (force.array().square() + 4.0 * zoo::LogBarrier::weight).sqrt()) / 2.0;
  EXPECT_LE(relative_error(minimizer(zoo::Separable<double, zoo::LogBarrier>(settings)), root), 1e-14);
  EXPECT_LE(relative_error(minimizer(zoo::Separable<double, zoo::Square>(settings)), force), 1e-14);
}

TEST(StandIn, SaysThatThereIsNoMinimizerAtTheStart) {
  const auto model = zoo::family_named("exponential").model();
  auto start = model->start(0);
  start.x *= -1.0;
  const auto answer = zoo::stand_in(*model, start);
  EXPECT_FALSE(answer.converged);
  EXPECT_CONTAINS(answer.message, "no minimizer at the start");
}

TEST(StandIn, DoesNotConvergeWhereFHasNoBound) {
  const auto model = zoo::family_named("unbounded").model();
  EXPECT_FALSE(zoo::stand_in(*model, model->start(0), {.most_steps = 50}).converged);
}

TEST(StandIn, FindsTheBestPrices) {
  const auto model = zoo::family_named("pricing").model();
  const auto answer = zoo::stand_in(*model, model->start(1));
  EXPECT_TRUE(answer.converged) << answer.message;
  EXPECT_LE(relative_error(answer.x, zoo::Pricing<double>({.goods = 8, .seed = 31}).best_prices()), 1e-5);
}

TEST(StandIn, SolvesSingularLeastSquaresDirectly) {
  for (const auto *name : {"singular-15x40", "inconsistent"}) {
    SCOPED_TRACE(name);
    const auto &family = zoo::family_named(name);
    const auto model = family.model();
    const auto answer = zoo::stand_in(*model, model->start(1));
    EXPECT_EQ(answer.message, "solved directly");
    EXPECT_LE(judged(family, 1, answer.x, answer.y), 1e-10);
  }
}

TEST(StandIn, HoldsXWithinItsBounds) {
  for (const auto *name : {"pricing-capped", "poisoning", "tolls"}) {
    SCOPED_TRACE(name);
    const auto &family = zoo::family_named(name);
    const auto model = family.model();
    const auto answer = zoo::stand_in(*model, model->start(1));
    EXPECT_TRUE(answer.converged) << answer.message;
    EXPECT_TRUE((answer.x.array() >= model->lower_bound().array()).all());
    EXPECT_TRUE((answer.x.array() <= model->upper_bound().array()).all());
    EXPECT_LE(judged(family, 1, answer.x, answer.y), 1e-5);
  }
}

TEST(StandIn, IsRightWhereNothingIsQuadratic) {
  for (const auto *name : {"logistic-one", "kernel", "quartic", "exponential", "portfolio-barrier"}) {
    SCOPED_TRACE(name);
    const auto &family = zoo::family_named(name);
    const auto model = family.model();
    const auto answer = zoo::stand_in(*model, model->start(0));
    EXPECT_LE(judged(family, 0, answer.x, answer.y), 1e-5) << answer.message;
  }
}

TEST(StandIn, GradientsAreProjectedAtBoundsAlone) {
  const Vec gradient = (Vec(4) << 1.0, -1.0, 1.0, -1.0).finished();
  const Vec x = (Vec(4) << 0.0, 0.0, 1.0, 1.0).finished();
  const Vec expected = (Vec(4) << 0.0, -1.0, 1.0, 0.0).finished();
  EXPECT_TRUE(same_bits(zoo::projected<double>(gradient, x, Vec::Zero(4), Vec::Ones(4)), expected));
  const Vec far = Vec::Constant(4, infinity);
  EXPECT_TRUE(same_bits(zoo::projected<double>(gradient, x, -far, far), gradient));
}

} // namespace
} // namespace duplex::testing
