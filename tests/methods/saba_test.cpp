// SABA, SRBA and SPABA: their steps written out by hand, and that they end in no noise.

#include "noisy_problem.hpp"
#include "saved_run.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace duplex::testing {
namespace {

template <class S> std::string refusal_of_option(const S &solver) {
  const auto problem = bent();
  auto state = problem.start();
  return refusal([&] { (void)run_steps(problem, solver, state, 1); });
}

TEST(Saba, RefusesWrongOptionsAsItsKinDo) {
  EXPECT_EQ(refusal_of_option(Saba{.alpha = 0.0}), "saba: alpha = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of_option(Saba{.eta = -1.0}), "saba: eta = -1, expected > 0 and finite");
  EXPECT_EQ(refusal_of_option(Srba{.period = 0.0}), "srba: period = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of_option(Spaba{.period = -1.0}), "spaba: period = -1, expected > 0 and finite");
}

/// Two million samples that are all alike, of a million variables: a table of them takes 50 TB.
class ManyAlike : public NoisyInWhole {
public:
  explicit ManyAlike(const Noisy &one) : NoisyInWhole(one) {}
  using NoisyInWhole::lower;
  using NoisyInWhole::upper;
  [[nodiscard]] Noisy::Lower lower(const Batch & /*batch*/) const { return lower(); }
  [[nodiscard]] Noisy::Upper upper(const Batch & /*batch*/) const { return upper(); }
  [[nodiscard]] static Index lower_samples() { return 2'000'000; }
  [[nodiscard]] static Index upper_samples() { return 1; }
};

TEST(Saba, RefusesTablesThatAreLargerThanMemoryBeforeItAsksForThem) {
  const Noisy one(1, 1'000'000, 1);
  const ManyAlike problem(one);
  const auto batches = in_batches(problem, 1);
  auto state = problem.start();
  const std::string message = refusal([&] { (void)run_steps(batches, Saba{}, state, 1); });
  EXPECT_CONTAINS(message,
                  "saba: tables of 2000000 and 1 batches (srba and spaba keep none; larger batches are fewer)");
  EXPECT_CONTAINS(message, "GB are needed");
}

/// What the samples in hand say of the five pieces of a step, of a problem with one x and one y.
struct Pieces {
  double gradient = 0.0;
  double hessian = 0.0;
  double cross = 0.0;
  double upper_gradient = 0.0;
  double direct = 0.0;
};

template <class Lower, class Upper> Pieces pieces_of(Lower lower, Upper upper, const State<Vec> &s) {
  lower.at(s.x, s.y);
  upper.at(s.x, s.y);
  Vec out(1);
  Pieces all;
  lower.grad_y(out);
  all.gradient = out[0];
  lower.hess_yy(s.v, out);
  all.hessian = out[0];
  lower.cross_xy(s.v, out);
  all.cross = out[0];
  upper.grad_y(out);
  all.upper_gradient = out[0];
  upper.grad_x(out);
  all.direct = out[0];
  return all;
}

/// Numbers by batch, and what one that has changed tells of their mean.
struct TableByHand {
  std::vector<double> last;
  double tell(Index batch, double now) {
    double mean = 0.0;
    for (const double number : last) {
      mean += number / static_cast<double>(last.size());
    }
    double &before = last[static_cast<std::size_t>(batch)];
    const double told = now - before + mean;
    before = now;
    return told;
  }
};

/// A run by hand beside one of a method: both see the batches of one seed.
template <class S, class Step>
void expect_steps_by_hand(const NoisySum &problem, const S &method, const Step &by_hand) {
  const auto batches = in_batches(problem, 2);
  Drawn<InBatches<NoisySum>> drawn(batches, Options{}.seed);
  State<Vec> hand = problem.start();
  for (const auto &step : record(batches, method, problem.start(), 40)) {
    const double d = by_hand(drawn, hand);
    EXPECT_NEAR(step.direction[0], d, 1e-12) << S::name;
    hand.x[0] -= method.alpha * d;
    EXPECT_NEAR(step.state.x[0], hand.x[0], 1e-12) << S::name;
    EXPECT_NEAR(step.state.y[0], hand.y[0], 1e-12) << S::name;
    EXPECT_NEAR(step.state.v[0], hand.v[0], 1e-12) << S::name;
    drawn.next();
  }
}

TEST(Saba, TellsEachPieceByATableOfItsOwn) {
  const NoisySum problem(7, 5, 1);
  const Saba method{.alpha = 0.1, .beta = 0.3, .eta = 0.2};
  TableByHand gradient;
  TableByHand hessian;
  TableByHand cross;
  TableByHand upper_gradient;
  TableByHand direct;
  expect_steps_by_hand(problem, method, [&](const auto &drawn, State<Vec> &s) {
    if (gradient.last.empty()) {
      for (Index i = 0; i < drawn.batches().lower_count; ++i) {
        const Batch batch = drawn.lower_batch(i);
        const auto said = pieces_of(problem.lower(batch), problem.upper(), s);
        gradient.last.push_back(said.gradient);
        hessian.last.push_back(said.hessian);
        cross.last.push_back(said.cross);
      }
      for (Index i = 0; i < drawn.batches().upper_count; ++i) {
        const Batch batch = drawn.upper_batch(i);
        const auto said = pieces_of(problem.lower(), problem.upper(batch), s);
        upper_gradient.last.push_back(said.upper_gradient);
        direct.last.push_back(said.direct);
      }
    }
    const Index i = drawn.batches().lower.number;
    const Index j = drawn.batches().upper.number;
    const auto said = pieces_of(drawn.lower(), drawn.upper(), s);
    const double g = gradient.tell(i, said.gradient);
    const double r = hessian.tell(i, said.hessian) - upper_gradient.tell(j, said.upper_gradient);
    const double d = direct.tell(j, said.direct) - cross.tell(i, said.cross);
    s.y[0] -= method.beta * g;
    s.v[0] -= method.eta * r;
    return d;
  });
}

/// What SRBA and SPABA know of the three directions, and the point before.
struct EstimatesByHand {
  double g = 0.0;
  double r = 0.0;
  double d = 0.0;
  State<Vec> before;
  void begin(const Pieces &whole) {
    g = r = d = 0.0;
    add(whole, 1.0);
  }
  void add(const Pieces &said, double sign) {
    g += sign * said.gradient;
    r += sign * (said.hessian - said.upper_gradient);
    d += sign * (said.direct - said.cross);
  }
  /// One step; gives d.
  template <class Drawn, class S>
  double step(const NoisySum &problem, const Drawn &drawn, const S &method, bool takes_whole, State<Vec> &s) {
    if (takes_whole) {
      begin(pieces_of(problem.lower(), problem.upper(), s));
    } else {
      add(pieces_of(drawn.lower(), drawn.upper(), s), 1.0);
      add(pieces_of(drawn.lower(), drawn.upper(), before), -1.0);
    }
    before = s;
    s.y[0] -= method.beta * g;
    s.v[0] -= method.eta * r;
    return d;
  }
};

TEST(Srba, FollowsTheWholeFromBatchToBatch) {
  const NoisySum problem(7, 5, 1); // in batches of two: four and three, a pass in seven steps
  const Srba method{.alpha = 0.1, .beta = 0.3, .eta = 0.2, .period = 1.7};
  EstimatesByHand estimates;
  int k = 0;
  expect_steps_by_hand(problem, method, [&](const auto &drawn, State<Vec> &s) {
    return estimates.step(problem, drawn, method, k++ % 12 == 0, s); // 1.7 · 7 = 11.9
  });
}

TEST(Spaba, GoesBackToTheWholeByTheTossOfACoin) {
  const NoisySum problem(7, 5, 1);
  const Spaba method{.alpha = 0.1, .beta = 0.3, .eta = 0.2, .period = 0.5, .seed = 8};
  EstimatesByHand estimates;
  std::mt19937_64 coin(8);
  bool has_begun = false;
  int wholes = 0;
  expect_steps_by_hand(problem, method, [&](const auto &drawn, State<Vec> &s) {
    const bool tossed = has_begun && std::ldexp(static_cast<double>(coin() >> 11U), -53) < 1.0 / (0.5 * 7.0);
    const bool takes_whole = !has_begun || tossed;
    has_begun = true;
    wholes += takes_whole ? 1 : 0;
    return estimates.step(problem, drawn, method, takes_whole, s);
  });
  EXPECT_GT(wholes, 4) << "of 40 steps, 12 in the mean";
  EXPECT_LT(wholes, 25);
}

template <class P, class S> double error_of_batches(const P &problem, const S &method, std::int64_t steps) {
  auto state = problem.start();
  const auto summary = solve(in_batches(problem, 4), method, state, {.max_iterations = steps, .seed = 3});
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return relative_error(state.x, problem.answer_x());
}

TEST(Saba, AndItsKinConvergeLinearlyWithConstantStepsWhereSobaEndsInANoise) {
  const NoisySum problem(40, 30, 4);
  const auto expect_linear = [&](const auto &method) {
    const double first = error_of_batches(problem, method, 100);
    const double second = error_of_batches(problem, method, 200);
    const double third = error_of_batches(problem, method, 300);
    EXPECT_LT(second, 0.1 * first) << method.name;
    EXPECT_LT(third, 0.1 * second) << method.name;
    EXPECT_LT(error_of_batches(problem, method, 1200), 1e-10) << method.name;
  };
  expect_linear(Saba{.alpha = 0.05, .beta = 0.2, .eta = 0.2});
  expect_linear(Srba{.alpha = 0.05, .beta = 0.2, .eta = 0.2});
  expect_linear(Spaba{.alpha = 0.05, .beta = 0.2, .eta = 0.2});
  EXPECT_GT(error_of_batches(problem, Soba{.alpha = 0.05, .beta = 0.2, .eta = 0.2, .decay = 0.0}, 1200), 1e-3);
}

TEST(Saba, AndItsKinAreSobaWithConstantStepsWhereNothingIsDrawn) {
  const auto problem = bent();
  const Soba soba{.alpha = 0.1, .beta = 0.2, .eta = 0.2, .decay = 0.0};
  auto expected = problem.start();
  (void)run_steps(problem, soba, expected, 200);
  const auto end_of = [&](const auto &method) {
    auto state = problem.start();
    (void)run_steps(problem, method, state, 200);
    return state;
  };
  EXPECT_TRUE(same_bits(end_of(Srba{}), expected));
  EXPECT_TRUE(same_bits(end_of(Spaba{}), expected));
  for (const auto &state : {end_of(Saba{}), end_of(Srba{.period = 20.0}), end_of(Spaba{.period = 20.0})}) {
    EXPECT_LE(relative_error(state.x, expected.x), 1e-13);
    EXPECT_LE(relative_error(state.y, expected.y), 1e-13);
    EXPECT_LE(relative_error(state.v, expected.v), 1e-13);
  }
}

/// Passes over both levels of each step.
template <class S> std::vector<double> passes_of_steps(const S &method, std::int64_t steps) {
  const NoisySum problem(10, 7, 2); // in batches of two: five and four
  std::vector<double> passes;
  double before = 0.0;
  for (const auto &step : record(in_batches(problem, 2), method, problem.start(), steps)) {
    const double now = step.counters.lower_passes + step.counters.upper_passes;
    passes.push_back(now - before);
    before = now;
  }
  return passes;
}

TEST(Srba, TakesDirectionsOfTheWholeEverySoManySteps) {
  const auto passes = passes_of_steps(Srba{.period = 0.33}, 10); // .33 · 9 = 2.97
  for (std::size_t k = 0; k < passes.size(); ++k) {
    EXPECT_NEAR(passes[k], k % 3 == 0 ? 5.0 : 6.0 / 5.0 + 4.0 / 4.0, 1e-12) << k;
  }
}

TEST(Saba, TakesAPassForItsTablesAndABatchForEveryStep) {
  const auto passes = passes_of_steps(Saba{}, 10);
  for (std::size_t k = 0; k < passes.size(); ++k) {
    EXPECT_NEAR(passes[k], (k == 0 ? 5.0 : 0.0) + 3.0 / 5.0 + 2.0 / 4.0, 1e-12) << k;
  }
}

TEST(Saba, AndItsKinAreMendedByRecovery) {
  const NoisySum problem(40, 30, 4);
  const auto batches = in_batches(problem, 4);
  const auto expect_mended = [&](auto wild) {
    wild.beta = 60.0;
    auto alone = problem.start();
    EXPECT_TRUE(solve(batches, wild, alone, {.max_iterations = 2000}).failed()) << wild.name;
    auto state = problem.start();
    const auto summary = solve(batches, wild, state, {.max_iterations = 4000, .recoveries = 12});
    EXPECT_FALSE(summary.failed()) << summary.brief();
    EXPECT_FALSE(summary.recoveries.empty()) << wild.name;
    EXPECT_LT(relative_error(state.x, problem.answer_x()), 1e-6) << wild.name;
  };
  expect_mended(Saba{.alpha = 0.05});
  expect_mended(Srba{.alpha = 0.05});
  expect_mended(Spaba{.alpha = 0.05});
}

} // namespace
} // namespace duplex::testing
