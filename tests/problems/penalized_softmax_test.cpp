// Softmax and logistic regression with tuned penalties: against finite differences, against each other, and in batches.

#include "support.hpp"

#include <duplex/measure/check.hpp>
#include <duplex/problem/finite_sum.hpp>
#include <duplex/problems/logistic.hpp>
#include <duplex/problems/softmax.hpp>

#include <limits>

namespace duplex::testing {
namespace {

using OnClasses = PenalizedSoftmax<double>;

constexpr LabelledClouds few{
    .samples = 23, .validation = 17, .held_out = 11, .features = 4, .informative = 2, .seed = 3};

OnClasses problem_of(Index classes, const PenalizedSoftmaxOptions &options) { return {few.parts(classes), options}; }

std::vector<PenalizedSoftmaxOptions> every_kind(bool contrast) {
  std::vector<PenalizedSoftmaxOptions> kinds;
  for (const auto penalties : {Penalties::one, Penalties::by_class, Penalties::by_feature}) {
    for (const bool bias : {true, false}) {
      if (!contrast || penalties != Penalties::by_class) {
        kinds.push_back({.penalties = penalties, .bias = bias, .contrast = contrast});
      }
    }
  }
  return kinds;
}

/// Every kind of two and of three classes.
template <class Visit> void each_problem(const Visit &visit) {
  for (const auto &[classes, contrast] : {std::pair<Index, bool>{2, true}, {2, false}, {3, false}}) {
    for (const auto &kind : every_kind(contrast)) {
      SCOPED_TRACE(std::to_string(classes) + " classes, penalties by " + std::string(name_of(kind.penalties)) +
                   (kind.bias ? ", biases" : "") + (kind.contrast ? ", contrast" : ""));
      visit(problem_of(classes, kind));
    }
  }
}

TEST(PenalizedSoftmaxProblem, RefusesWhatDoesNotFit) {
  const auto refused = [](LabelledParts parts, const PenalizedSoftmaxOptions &options = {}) {
    return refusal([&] { (void)OnClasses(std::move(parts), options); });
  };
  const auto good = few.parts(3);
  EXPECT_EQ(refused(good), "");
  auto parts = good;
  parts.classes = 4;
  EXPECT_CONTAINS(refused(parts), "no training sample of class 3 of 4 (from 0), expected some of each");
  parts = good;
  parts.classes = 2;
  EXPECT_CONTAINS(refused(parts), "expected less than the number of classes, 2");
  parts = good;
  parts.validation = LabelledClouds{.samples = 5, .features = 7}.parts(3).training;
  EXPECT_CONTAINS(refused(parts), "7 features of a validation sample, expected 4 as in the training samples");
  parts = good;
  parts.held_out = LabelledSamples{};
  EXPECT_CONTAINS(refused(parts), "held-out: no samples");
  EXPECT_CONTAINS(refused(good, {.contrast = true}), "one contrast of 3 classes, expected two classes");
  EXPECT_CONTAINS(refused(few.parts(2), {.penalties = Penalties::by_class, .contrast = true}),
                  "penalties = class, expected one or feature");
  EXPECT_CONTAINS(refused(good, {.limit = 0.0}), "limit = 0, expected finite numbers and limit > 0");
  EXPECT_CONTAINS(refused(good, {.start = not_a_number}), "start = nan");
}

TEST(PenalizedSoftmaxProblem, HasTheDerivativesThatDifferencesGive) {
  each_problem([](const OnClasses &problem) {
    const auto report = check(problem);
    EXPECT_TRUE(report.passes()) << report.table();
  });
}

TEST(PenalizedSoftmaxProblem, IsStartedWithinItsBoundsAndWithoutWeights) {
  const auto problem = problem_of(3, {.start = -20.0, .limit = 7.0});
  const auto start = problem.start();
  EXPECT_EQ(start.x, Vec::Constant(4, -7.0));
  EXPECT_EQ(start.y, Vec::Zero(15));
  EXPECT_EQ(problem.lower_bound(), start.x);
  EXPECT_EQ(problem.upper_bound(), -start.x);
}

TEST(PenalizedSoftmaxProblem, HasThePenaltiesOfItsGroupsAndNoneOfBiases) {
  const Vec y = random_vector(15, 1); // three classes, four features and a bias
  const auto weights = [&](Index k) { return y.segment(5 * k, 4); };
  const auto penalty_of = [&](Penalties penalties, const Vec &x) {
    const auto problem = problem_of(3, {.penalties = penalties});
    EXPECT_EQ(problem.x_size(), x.size());
    auto lower = problem.lower();
    const Vec none = Vec::Constant(x.size(), -1000.0); // whose e^x is zero
    lower.at(none, y);
    const double without = lower.value();
    lower.at(x, y);
    return lower.value() - without;
  };
  Vec expected = Vec::Zero(4);
  for (Index k = 0; k < 3; ++k) {
    expected += weights(k).cwiseAbs2();
  }
  const Vec by_feature = random_vector(4, 2);
  EXPECT_NEAR(penalty_of(Penalties::by_feature, by_feature), 0.5 * by_feature.array().exp().matrix().dot(expected),
              1e-12);
  EXPECT_NEAR(penalty_of(Penalties::one, Vec::Constant(1, 0.7)), 0.5 * std::exp(0.7) * expected.sum(), 1e-12);
  const Vec by_class = random_vector(3, 4);
  double sum = 0.0;
  for (Index k = 0; k < 3; ++k) {
    sum += 0.5 * std::exp(by_class[k]) * weights(k).squaredNorm();
  }
  EXPECT_NEAR(penalty_of(Penalties::by_class, by_class), sum, 1e-12);
}

/// With u for the contrast and (−u/2, u/2) for two classes the scores differ alike, and ‖u‖² is twice as large.
TEST(PenalizedSoftmaxProblem, OfTwoClassesIsLogisticRegressionWithHalfThePenalty) {
  for (const bool bias : {true, false}) {
    const auto softmax = problem_of(2, {.penalties = Penalties::one, .bias = bias});
    const auto logistic = problem_of(2, {.penalties = Penalties::one, .bias = bias, .contrast = true});
    const Index stride = logistic.y_size();
    ASSERT_EQ(softmax.y_size(), 2 * stride);
    const Vec x_of_logistic = Vec::Constant(1, -0.4);
    const Vec x_of_softmax = Vec::Constant(1, -0.4 + std::log(2.0));
    const Vec u = random_vector(stride, 5);
    Vec y(2 * stride);
    y << -0.5 * u, 0.5 * u;
    auto one = logistic.lower();
    auto two = softmax.lower();
    one.at(x_of_logistic, u);
    two.at(x_of_softmax, y);
    EXPECT_NEAR(one.value(), two.value(), 1e-12);
    ExactSolver exact_one(logistic);
    ExactSolver exact_two(softmax);
    const auto &of_one = exact_one.at(x_of_logistic, logistic.start().y);
    const auto &of_two = exact_two.at(x_of_softmax, softmax.start().y);
    EXPECT_LE(relative_error(Vec(of_two.y.tail(stride) - of_two.y.head(stride)), of_one.y), 1e-9);
    EXPECT_NEAR(of_one.value, of_two.value, 1e-10);
    EXPECT_LE(relative_error(of_two.hypergradient, of_one.hypergradient), 1e-7);
  }
}

TEST(PenalizedSoftmaxProblem, HasALowerLevelThatIsStrictlyConvexInTheBiases) {
  const auto problem = problem_of(3, {.penalties = Penalties::one});
  const Vec x = problem.start().x;
  Vec alike = Vec::Zero(15);
  for (Index k = 0; k < 3; ++k) {
    alike[5 * k + 4] = 1.0;
  }
  auto lower = problem.lower();
  const Vec y = random_vector(15, 6);
  lower.at(x, y);
  Vec out;
  lower.hess_yy(alike, out);
  EXPECT_LE(relative_error(out, alike), 1e-12); // softmax sees none of it
  ExactSolver exact(problem);
  const auto &best = exact.at(x, problem.start().y);
  EXPECT_NEAR(best.y.dot(alike), 0.0, 1e-12);
}

TEST(PenalizedSoftmaxProblem, IsTheMeanOfItsBatches) {
  each_problem([](const OnClasses &problem) {
    const auto batched = in_batches(problem, {.lower = 5, .upper = 4}); // of 23 and 17
    const Vec x = random_vector(problem.x_size(), 7);
    const Vec y = random_vector(problem.y_size(), 8);
    const Vec v = random_vector(problem.y_size(), 9);
    const auto expect_mean = [&](auto whole, Index count, const auto &batch_of) {
      double value = 0.0;
      std::vector<Vec> sums(4);
      const auto derivatives = [&](auto &level) {
        std::vector<Vec> all(4);
        level.grad_x(all[0]);
        level.grad_y(all[1]);
        level.hess_yy(v, all[2]);
        level.cross_xy(v, all[3]);
        return all;
      };
      for (Index i = 0; i < count; ++i) {
        const Batch batch = batch_of(i);
        auto part = [&] {
          if constexpr (std::same_as<decltype(whole), OnClasses::Lower>) {
            return problem.lower(batch);
          } else {
            return problem.upper(batch);
          }
        }();
        part.at(x, y);
        value += part.value() / static_cast<double>(count);
        const auto all = derivatives(part);
        for (std::size_t k = 0; k < 4; ++k) {
          sums[k] =
              i == 0 ? Vec(all[k] / static_cast<double>(count)) : Vec(sums[k] + all[k] / static_cast<double>(count));
        }
      }
      whole.at(x, y);
      EXPECT_NEAR(whole.value(), value, 1e-12);
      const auto expected = derivatives(whole);
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_LE((sums[k] - expected[k]).norm(), 1e-12 * (1.0 + expected[k].norm())) << k;
      }
    };
    expect_mean(problem.lower(), 5, [&](Index i) { return batched.lower_batch(i); });
    expect_mean(problem.upper(), 5, [&](Index i) { return batched.upper_batch(i); });
  });
}

TEST(PenalizedSoftmaxProblem, GivesBothProductsAtOnceAsOneByOne) {
  each_problem([](const OnClasses &problem) {
    auto lower = problem.lower();
    const Vec x = random_vector(problem.x_size(), 1);
    const Vec y = random_vector(problem.y_size(), 2);
    const Vec v = random_vector(problem.y_size(), 3);
    lower.at(x, y);
    Vec hess;
    Vec cross;
    lower.both_products(v, hess, cross);
    Vec out;
    lower.hess_yy(v, out);
    EXPECT_TRUE(same_bits(out, hess));
    lower.cross_xy(v, out);
    EXPECT_TRUE(same_bits(out, cross));
  });
}

TEST(PenalizedSoftmaxProblem, InFloatsIsWhatItIsInDoubles) {
  for (const bool contrast : {true, false}) {
    const auto parts = few.parts(2);
    const PenalizedSoftmaxOptions options{.contrast = contrast};
    const OnClasses in_doubles(parts, options);
    const PenalizedSoftmax<float> in_floats(parts, options);
    const Eigen::VectorXf x = random_vector<Eigen::VectorXf>(in_floats.x_size(), 1);
    const Eigen::VectorXf y = random_vector<Eigen::VectorXf>(in_floats.y_size(), 2);
    const Vec x_double = x.cast<double>();
    const Vec y_double = y.cast<double>();
    auto single = in_floats.lower();
    auto lower = in_doubles.lower();
    single.at(x, y);
    lower.at(x_double, y_double);
    EXPECT_NEAR(single.value() / lower.value(), 1.0, 1e-5);
    Eigen::VectorXf found;
    Vec expected;
    single.grad_y(found);
    lower.grad_y(expected);
    EXPECT_LE(relative_error(found.cast<double>(), expected), 1e-5);
    single.hess_yy(y, found);
    lower.hess_yy(y_double, expected);
    EXPECT_LE(relative_error(found.cast<double>(), expected), 1e-5);
  }
}

TEST(PenalizedSoftmaxProblem, KnowsItsLossAndErrorOnSamplesThatNeitherLevelSees) {
  auto parts = few.parts(3);
  parts.held_out = parts.validation; // on which the upper level has the same loss
  const OnClasses problem(parts, {});
  const Vec x = problem.start().x;
  const Vec y = random_vector(problem.y_size(), 4);
  auto upper = problem.upper();
  upper.at(x, y);
  EXPECT_NEAR(problem.held_out(x, y).value(), upper.value(), 1e-12);
  double wrong = 0.0;
  for (Index i = 0; i < 17; ++i) {
    Vec scores(3);
    for (Index k = 0; k < 3; ++k) {
      scores[k] = y[5 * k + 4];
      for (Index j = 0; j < 4; ++j) {
        scores[k] += y[5 * k + j] * static_cast<double>(parts.validation.features->value(i, j));
      }
    }
    Index likeliest = 0;
    scores.maxCoeff(&likeliest);
    wrong += likeliest == static_cast<Index>((*parts.validation.labels)[static_cast<std::size_t>(i)]) ? 0.0 : 1.0;
  }
  EXPECT_DOUBLE_EQ(problem.held_out_error(y).value(), wrong / 17.0);
  EXPECT_GT(wrong, 0.0);
  parts.held_out.reset();
  EXPECT_FALSE(OnClasses(parts, {}).held_out(x, y).has_value());
  EXPECT_FALSE(OnClasses(parts, {}).held_out_error(y).has_value());
}

TEST(PenalizedSoftmaxProblem, HasThePenaltyThatAScanFinds) {
  for (const bool contrast : {true, false}) {
    const auto problem = problem_of(2, {.penalties = Penalties::one, .contrast = contrast});
    auto state = problem.start();
    const auto summary = solve(problem, Automatic{}, state);
    EXPECT_TRUE(summary.converged()) << summary.brief();
    ExactSolver exact(problem);
    const double found = exact.at(state.x, state.y).value;
    for (double x = -6.0; x <= 6.0; x += 0.5) {
      EXPECT_LE(found, exact.at(Vec::Constant(1, x), state.y).value + 1e-9) << x;
    }
    EXPECT_LT(found, exact.at(problem.start().x, state.y).value);
  }
}

} // namespace
} // namespace duplex::testing
