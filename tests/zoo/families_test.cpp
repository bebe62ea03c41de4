// Every family of the zoo: what is known of it, its starts, and its derivatives against differences in long double.

#include "support.hpp"
#include "zoo/family.hpp"
#include "zoo/losses.hpp"
#include "zoo/penalized.hpp"

#include <functional>
#include <set>

namespace duplex::testing {
namespace {

using zoo::Model;
using Real = long double;
using RealVector = zoo::VectorOver<Real>;

/// ∂/∂t g(t) at 0 by the five-point rule.
template <class Function> auto slope_of(const Function &function, Real h) {
  return ((function(-2 * h) - function(2 * h)) + 8 * (function(h) - function(-h))) / (12 * h);
}

/// A point near a start, and directions in units of the problem: x as far as starts are apart, y by its curvature.
struct Setting {
  explicit Setting(const zoo::Family &family) : model(family.model()), truth(family.truth()) {
    const auto first = model->start(0);
    const auto second = model->start(1);
    x_step = second.x - first.x;
    x = second.x - 0.25 * x_step;
    Mat hessian;
    model->at(x, second.y);
    model->lower_hessian(hessian);
    const Vec bending = hessian.diagonal().cwiseAbs();
    // A tenth of what changes f by a half where it is quadratic, in each entry, and all of them together by no more.
    const Vec scale = 0.1 * bending.cwiseMax(1e-6 * bending.maxCoeff()).cwiseSqrt().cwiseInverse() /
                      std::sqrt(static_cast<double>(bending.size()));
    y_step = random_vector(scale.size(), 1).cwiseProduct(scale);
    y = second.y + random_vector(scale.size(), 2).cwiseProduct(scale);
    v = random_vector(scale.size(), 3).cwiseProduct(scale);
    model->at(x, y);
  }

  /// Of a function of the truth's model, along a direction in x or in y.
  using Measure = std::function<Real(Model<Real> &)>;
  [[nodiscard]] double along_x(const Measure &measure) const { return along(x_step, Vec::Zero(y.size()), measure); }
  [[nodiscard]] double along_y(const Measure &measure) const { return along(Vec::Zero(x.size()), y_step, measure); }

  std::unique_ptr<Model<double>> model;
  std::unique_ptr<Model<Real>> truth;
  Vec x;
  Vec y;
  Vec x_step;
  Vec y_step;
  Vec v;

private:
  [[nodiscard]] double along(const Vec &in_x, const Vec &in_y, const Measure &measure) const {
    const auto at = [&](Real t) {
      const RealVector moved_x = x.cast<Real>() + t * in_x.cast<Real>();
      const RealVector moved_y = y.cast<Real>() + t * in_y.cast<Real>();
      truth->at(moved_x, moved_y);
      return measure(*truth);
    };
    return static_cast<double>(slope_of(at, 1e-3L));
  }
};

/// A slope that is known beside one by differences; `scale` is what the terms of the first add up to without their
/// signs.
void expect_slope(double known, double difference, double scale, const char *what) {
  EXPECT_NEAR(known, difference, 1e-8 * scale + 1e-12) << what;
}

double size_of(const Vec &a, const Vec &b) { return a.cwiseAbs().dot(b.cwiseAbs()); }

using Slope = void (Model<double>::*)(Vec &);
using RealSlope = void (Model<Real>::*)(RealVector &);
using Product = void (Model<double>::*)(const Vec &, Vec &);

/// The products with second derivatives of one level, against differences of its slope in y.
void expect_products(const Setting &at, RealSlope slope, Product bend, Product cross, const char *level) {
  const auto along_v = [&](Model<Real> &truth) {
    RealVector out(at.y.size());
    (truth.*slope)(out);
    return out.dot(at.v.cast<Real>());
  };
  Vec out(at.y.size());
  ((*at.model).*bend)(at.v, out);
  expect_slope(out.dot(at.y_step), at.along_y(along_v), size_of(out, at.y_step), level);
  out.resize(at.x.size());
  ((*at.model).*cross)(at.v, out);
  expect_slope(out.dot(at.x_step), at.along_x(along_v), size_of(out, at.x_step), level);
}

TEST(ZooDraws, RoundToWhatAFloatHolds) {
  for (const double value : {0.01, -1e-3, 1.0 / 3.0, 1e4 + 0.1, 3.0, 0.0}) {
    EXPECT_EQ(zoo::rounded<double>(value), static_cast<double>(static_cast<float>(value)));
    EXPECT_EQ(zoo::rounded<long double>(value), static_cast<long double>(zoo::rounded<float>(value)));
    const Vec vector = Vec::Constant(3, value);
    EXPECT_EQ(zoo::rounded<double>(vector)[1], zoo::rounded<double>(value));
  }
}

TEST(Zoo, RefusesWhatItDoesNotHave) {
  EXPECT_CONTAINS(refusal([] { (void)zoo::family_named("ridge-on"); }), "did you mean 'ridge-one'?");
  EXPECT_CONTAINS(refusal([] { (void)zoo::families_with("unicorn"); }), "'unicorn'");
  const auto &family = zoo::family_named("ridge-one");
  EXPECT_CONTAINS(refusal([&] { (void)family.start(-1); }), "start -1, expected 0 to 9");
  EXPECT_CONTAINS(refusal([&] { (void)family.start(10); }), "start 10, expected 0 to 9");
  EXPECT_CONTAINS(refusal([] {
                    const zoo::PenalizedSettings settings{.model = {.weights = Vec::Ones(3)}, .groups = {0, 1}};
                    (void)zoo::Penalized<double, zoo::SquaredLoss>(settings);
                  }),
                  "2 groups, expected one of each of 3 weights");
}

TEST(Zoo, HasManyFamiliesEachWithTenStartsInsideItsBounds) {
  std::set<std::string> names;
  for (const auto &family : zoo::families()) {
    SCOPED_TRACE(family.name());
    EXPECT_TRUE(names.insert(family.name()).second);
    EXPECT_FALSE(family.facts().title.empty());
    const auto model = family.model();
    const Vec lower = model->lower_bound();
    const Vec upper = model->upper_bound();
    EXPECT_EQ(family.lower_bound().has_value(), lower.array().isFinite().any());
    const auto first = model->start(0);
    for (int k = 0; k < zoo::starts_of_family; ++k) {
      const auto start = model->start(k);
      ASSERT_EQ(start.x.size(), model->x_size());
      ASSERT_EQ(start.y.size(), model->y_size());
      EXPECT_TRUE((start.x.array() >= lower.array()).all() && (start.x.array() <= upper.array()).all());
      EXPECT_EQ(k == 0, same_bits(start.x, first.x));
      model->at(start.x, start.y);
      EXPECT_TRUE(std::isfinite(model->lower_value()) && std::isfinite(model->upper_value())) << k;
    }
  }
  EXPECT_GE(names.size(), 40U);
}

TEST(Zoo, FamiliesHaveTheDerivativesThatDifferencesGive) {
  for (const auto &family : zoo::families()) {
    SCOPED_TRACE(family.name());
    const Setting at(family);
    Vec out(at.y.size());
    at.model->lower_grad_y(out);
    expect_slope(out.dot(at.y_step), at.along_y([](auto &truth) { return truth.lower_value(); }),
                 size_of(out, at.y_step), "lower grad_y");
    at.model->upper_grad_y(out);
    expect_slope(out.dot(at.y_step), at.along_y([](auto &truth) { return truth.upper_value(); }),
                 size_of(out, at.y_step), "upper grad_y");
    out.resize(at.x.size());
    at.model->upper_grad_x(out);
    expect_slope(out.dot(at.x_step), at.along_x([](auto &truth) { return truth.upper_value(); }),
                 size_of(out, at.x_step), "upper grad_x");
    expect_products(at, &Model<Real>::upper_grad_y, &Model<double>::upper_hess_yy, &Model<double>::upper_cross_xy,
                    "upper");
    if (family.facts().cause != "derivative") {
      expect_products(at, &Model<Real>::lower_grad_y, &Model<double>::lower_hess_yy, &Model<double>::lower_cross_xy,
                      "lower");
    }
  }
}

TEST(Zoo, TheMistakeOfTheMistakenFamilyIsAFactorOfTwo) {
  const auto &family = zoo::family_named("wrong-cross");
  const Setting at(family);
  Vec wrong(at.x.size());
  at.model->lower_cross_xy(at.v, wrong);
  RealVector right(at.x.size());
  const RealVector x = at.x.cast<Real>();
  const RealVector y = at.y.cast<Real>();
  at.truth->at(x, y);
  at.truth->lower_cross_xy(at.v.cast<Real>(), right);
  EXPECT_NEAR(relative_error(2.0 * wrong, right.cast<double>()), 0.0, 1e-12);
}

TEST(Zoo, HessiansAreWhatProductsWithThemSay) {
  for (const auto &family : zoo::families()) {
    SCOPED_TRACE(family.name());
    const Setting at(family);
    Mat hessian;
    at.model->lower_hessian(hessian);
    Vec product(at.y.size());
    at.model->lower_hess_yy(at.v, product);
    EXPECT_NEAR((hessian * at.v - product).norm(), 0.0, 1e-12 * (hessian.cwiseAbs() * at.v.cwiseAbs()).norm());
    EXPECT_TRUE(hessian.isApprox(hessian.transpose(), 1e-13));
  }
}

TEST(Zoo, FamiliesAreOneProblemInEveryScalar) {
  for (const auto &family : zoo::families()) {
    SCOPED_TRACE(family.name());
    const auto start = family.start(3);
    const auto in_double = family.model();
    in_double->at(start.x, start.y);
    const double value = in_double->upper_value();
    if (family.facts().runs_in_float) {
      const auto in_float = family.float_model();
      const Eigen::VectorXf x = start.x.cast<float>();
      const Eigen::VectorXf y = start.y.cast<float>();
      in_float->at(x, y);
      EXPECT_NEAR(static_cast<double>(in_float->upper_value()), value, 1e-4 * (1.0 + std::abs(value)));
    }
    const auto problem = family.problem();
    auto upper = problem.upper();
    upper.at(start.x, start.y);
    EXPECT_EQ(upper.value(), value) << "what the engine sees is what the stand-in sees";
  }
}

TEST(Zoo, BoundedWeightsTakeFewerStepsThanTwiceTheirNumber) {
  const auto families = zoo::families_with("weights-box");
  ASSERT_EQ(families.size(), 1U);
  const auto problem = families[0].problem();
  for (const int k : {0, 3}) {
    auto state = families[0].start(k);
    const auto summary = solve(problem, state);
    EXPECT_EQ(summary.termination, Termination::tolerance_verified) << k;
    EXPECT_LT(summary.iterations, 2 * problem.x_size()) << k; // Newton's steps with eigenvectors took 240 and 198
  }
}

} // namespace
} // namespace duplex::testing
