// Steps of SABA, SRBA and SPABA, written out by hand.

#include "noisy_problem.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace duplex::testing {
namespace {

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
  const Spaba method{.alpha = 0.1, .beta = 0.3, .eta = 0.2, .period = 0.5, .coin_seed = 8};
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

} // namespace
} // namespace duplex::testing
