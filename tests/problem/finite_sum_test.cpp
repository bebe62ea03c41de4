// Finite sums that are drawn in batches: how they are cut, in which order they come, and the runs on them.

#include "noisy_problem.hpp"
#include "saved_run.hpp"

#include <duplex/problem/any_sampled.hpp>
#include <duplex/problem/bounded.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace duplex::testing {
namespace {

template <class P, class S> State<Vec> after_batches(const P &problem, const S &solver, const Options &options) {
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, options);
  EXPECT_FALSE(summary.failed()) << S::name << ": " << summary.brief();
  return state;
}

/// Every method whose steps are given, by steps that every problem here bears.
template <class Visit> void with_each_stepping_method(const Visit &visit) {
  AllSolvers::each([&]<class S>() {
    S method = with_steps<S>(0.05, 0.1);
    if constexpr (requires { method.inner; }) {
      method.inner = 4;
    }
    if (!method.traits().chooses_its_steps()) {
      visit(method);
    }
  });
}

TEST(FiniteSum, RefusesBatchesThatAreLargerThanItsLevels) {
  const NoisySum problem(10, 7, 2);
  EXPECT_EQ(refusal([&] { (void)in_batches(problem, {.lower = 11, .upper = 2}); }),
            "batches of 11 samples, expected from 1 to the 10 of the lower level");
  EXPECT_EQ(refusal([&] { (void)in_batches(problem, 8); }),
            "batches of 8 samples, expected from 1 to the 7 of the upper level");
  EXPECT_CONTAINS(refusal([&] { (void)in_batches(problem, 0); }), "batches of 0 samples");
  EXPECT_CONTAINS(refusal([&] { (void)AnySampledProblem<Vec>(problem, {.lower = 10, .upper = 8}); }),
                  "the 7 of the upper level");
  EXPECT_EQ(refusal([&] { (void)in_batches(problem, {.lower = 10, .upper = 7}); }), "");
  EXPECT_EQ(refusal([&] { (void)in_batches(NoisySum(10, 1, 2), 4); }), "") << "an upper level that is no sum";
}

TEST(FiniteSum, IsNotRunBySteplessMethods) {
  const NoisySum problem(10, 7, 2);
  const auto batches = in_batches(problem, 2);
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(batches, Automatic{}, state); }), "automatic: the problem draws samples");
  const AnySampledProblem<Vec> forgotten(problem, {.lower = 2, .upper = 2});
  EXPECT_CONTAINS(refusal([&] { (void)solve(forgotten, Automatic{}, state); }), "automatic: the problem draws samples");
}

TEST(FiniteSum, OfASavedRunIsRefusedInBatchesOfOtherSizes) {
  const NoisySum problem(10, 7, 2);
  const Soba soba;
  const SavedState saved = saved_after(in_batches(problem, {.lower = 4, .upper = 3}), soba, 5);
  const Saving saving{.from = &saved};
  const auto refused = [&](const BatchSizes &sizes) {
    auto state = problem.start();
    return refusal([&] { (void)solve(in_batches(problem, sizes), soba, state, {.saving = &saving}); });
  };
  EXPECT_CONTAINS(
      refused({.lower = 2, .upper = 3}),
      "the saved state has batches of 4 lower and 3 upper samples, and this run has batches of 2 lower and 3 "
      "upper samples: expected the same");
  EXPECT_CONTAINS(refused({.lower = 9, .upper = 3}), "expected the same");
  EXPECT_CONTAINS(refused({.lower = 4, .upper = 2}), "expected the same");
  EXPECT_CONTAINS(refused({.lower = 4, .upper = 6}), "expected the same");
  EXPECT_EQ(refused({.lower = 4, .upper = 3}), "");
}

TEST(FiniteSum, IsCutIntoBatchesWhoseMeanIsTheLevel) {
  const NoisySum problem(10, 7, 3);
  const Vec x = random_vector(3, 5);
  const Vec y = random_vector(3, 6);
  const Vec v = random_vector(3, 7);
  const auto pieces = [&](auto level) { // all that it says at x, y and v
    level.at(x, y);
    Vec slope_x(3);
    Vec slope_y(3);
    Vec hessian(3);
    Vec cross(3);
    level.grad_x(slope_x);
    level.grad_y(slope_y);
    level.hess_yy(v, hessian);
    level.cross_xy(v, cross);
    Vec all(13);
    all << level.value(), slope_x, slope_y, hessian, cross;
    return all;
  };
  for (const Index size : {1, 3, 4, 7}) { // of which 3 and 4 leave a smaller one
    const auto batches = in_batches(problem, size);
    const BatchCut lower_cut(10, size, "lower");
    const BatchCut upper_cut(7, size, "upper");
    Vec lower = Vec::Zero(13);
    Vec upper = Vec::Zero(13);
    Index rows = 0;
    for (Index i = 0; i < lower_cut.count(); ++i) {
      const Batch batch = batches.lower_batch(i);
      EXPECT_EQ(batch.first, rows);
      rows += batch.count;
      lower += pieces(batches.lower(batch)) / static_cast<double>(lower_cut.count());
    }
    EXPECT_EQ(rows, 10);
    for (Index i = 0; i < upper_cut.count(); ++i) {
      const Batch batch = batches.upper_batch(i);
      upper += pieces(batches.upper(batch)) / static_cast<double>(upper_cut.count());
    }
    EXPECT_LE(relative_error(lower, pieces(problem.lower())), 1e-14) << size;
    EXPECT_LE(relative_error(upper, pieces(problem.upper())), 1e-14) << size;
  }
}

TEST(BatchOrder, ShowsEveryBatchOnceBeforeAnyComesAgain) {
  constexpr Index batches = 9;
  BatchOrder order;
  order.begin(batches, 3);
  std::vector<std::vector<Index>> epochs;
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::vector<Index> seen;
    for (Index i = 0; i < batches; ++i) {
      seen.push_back(order.next());
    }
    epochs.push_back(seen);
    std::sort(seen.begin(), seen.end());
    for (Index i = 0; i < batches; ++i) {
      EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
    }
  }
  EXPECT_NE(epochs[0], epochs[1]) << "each epoch has an order of its own";
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST(BatchOrder, TellsWhatComesNextButForTheEndOfAnOrder) {
  constexpr Index batches = 4;
  BatchOrder order;
  order.begin(batches, 3);
  for (int k = 1; k <= 3 * batches; ++k) {
    const auto upcoming = order.upcoming();
    const Index next = order.next();
    if ((k - 1) % batches == 0 && k > 1) {
      EXPECT_FALSE(upcoming) << "another order begins";
    } else {
      EXPECT_EQ(upcoming, next);
    }
  }
}

TEST(FiniteSum, TellsABatchWhereTheNextOneBegins) {
  const NoisySum problem(10, 7, 2); // the last batch of four is of two rows
  const auto batches = in_batches(problem, {.lower = 4, .upper = 7});
  Drawn<InBatches<NoisySum>> drawn(batches, 5);
  for (int k = 1; k < 12; ++k) {
    const Batches now = drawn.batches();
    drawn.next();
    if (k % 3 == 0) {
      EXPECT_FALSE(now.lower.next_first);
    } else {
      EXPECT_EQ(now.lower.next_first, drawn.batches().lower.first);
    }
    EXPECT_FALSE(now.upper.next_first) << "its one batch is an order";
  }
}

TEST(FiniteSum, DrawsItsTwoLevelsInOrdersOfTheirOwn) {
  const NoisySum problem(12, 12, 2);
  const auto batches = in_batches(problem, 1);
  Drawn<InBatches<NoisySum>> drawn(batches, 5);
  int together = 0;
  for (int k = 0; k < 48; ++k, drawn.next()) {
    together += drawn.batches().lower.number == drawn.batches().upper.number ? 1 : 0;
  }
  EXPECT_LT(together, 24);
}

TEST(FiniteSum, RepeatsARunByItsSeedAndByNoOther) {
  const NoisySum problem(10, 7, 2);
  const auto batches = in_batches(problem, 2);
  with_each_stepping_method([&](const auto &method) {
    const auto with_seed = [&](std::uint64_t seed) {
      return after_batches(batches, method, {.max_iterations = 30, .seed = seed});
    };
    const auto one = with_seed(1);
    EXPECT_TRUE(same_bits(one, with_seed(1))) << method.name;
    EXPECT_FALSE(same_bits(one, with_seed(2))) << method.name;
  });
}

TEST(FiniteSum, OfASavedRunGoesOnWithTheSameBatches) {
  const NoisySum problem(10, 7, 2);
  const auto batches = in_batches(problem, {.lower = 2, .upper = 3});
  with_each_stepping_method([&](const auto &method) {
    for (const std::int64_t saved_at : {8, 15}) { // within an order of either level, and at the end of both
      expect_same_bits(batches, method, std::string(method.name) + " in batches", saved_at);
    }
  });
}

TEST(FiniteSum, HasTheSameBitsWithItsTypeForgotten) {
  const NoisySum problem(10, 7, 2);
  const BatchSizes sizes{.lower = 3, .upper = 2};
  const auto batches = in_batches(problem, sizes);
  const AnySampledProblem<Vec> forgotten(problem, sizes);
  with_each_stepping_method([&](const auto &method) {
    auto typed_state = problem.start();
    auto any_state = problem.start();
    const Options options{.max_iterations = 30, .seed = 4};
    const auto typed = solve(batches, method, typed_state, options);
    const auto any = solve(forgotten, method, any_state, options);
    EXPECT_TRUE(same_bits(typed_state, any_state)) << method.name;
    EXPECT_EQ(typed.counters, any.counters) << method.name;
  });
}

TEST(FiniteSum, InOneBatchHasTheBitsOfTheWhole) {
  const NoisySum problem(10, 7, 2);
  const auto batches = in_batches(problem, {.lower = 10, .upper = 7});
  const Options options{.max_iterations = 30};
  EXPECT_TRUE(same_bits(after_batches(batches, Soba{}, options), after_batches(problem, Soba{}, options)));
  EXPECT_TRUE(same_bits(after_batches(batches, Saba{}, options), after_batches(problem, Saba{}, options)));
}

TEST(FiniteSum, CountsABatchAsThePartOfAPassThatItIs) {
  const NoisySum problem(10, 7, 2); // in five lower and three upper batches
  auto state = problem.start();
  const auto drawn = solve(in_batches(problem, {.lower = 2, .upper = 3}), Soba{}, state, {.max_iterations = 15});
  EXPECT_EQ(drawn.counters.gradients, 45);
  EXPECT_NEAR(drawn.counters.lower_passes, 15 * 3.0 / 5.0, 1e-12);
  EXPECT_NEAR(drawn.counters.upper_passes, 15 * 2.0 / 3.0, 1e-12);
  const auto whole = solve(problem, Soba{}, state, {.max_iterations = 15});
  EXPECT_EQ(whole.counters.lower_passes, 45.0);
  EXPECT_EQ(whole.counters.upper_passes, 30.0);
}

TEST(FiniteSum, IsMeasuredInWhole) {
  const NoisySum problem(40, 30, 3);
  auto state = problem.start();
  const auto summary = solve(in_batches(problem, 10), Saba{.alpha = 0.05, .beta = 0.1, .eta = 0.1}, state,
                             {.max_iterations = 4000, .kkt_tolerance = 1e-6});
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  EXPECT_LE(KktResidual(problem).at(state.x, state.y, state.v).residual(), 1e-6);
}

/// All that a whole problem may know, none of which a batch changes.
class KnownSum : public NoisySum {
public:
  using NoisySum::NoisySum;
  [[nodiscard]] std::optional<Answer<Vec>> answer() const { return Answer<Vec>{answer_x(), {}, {}, 0.5}; }
  [[nodiscard]] std::optional<double> held_out(const Vec & /*x*/, const Vec & /*y*/) const { return 0.25; }
  [[nodiscard]] Vec x_scale() const { return Vec::Constant(x_size(), 4.0); }
  [[nodiscard]] Vec y_scale() const { return Vec::Constant(y_size(), 8.0); }
  [[nodiscard]] static bool respond(const Vec & /*x*/, Vec &y, Vec & /*v*/) {
    y.setConstant(3.0);
    return true;
  }
  static void check_start(const State<Vec> &state) {
    if (state.x.size() > 0 && state.x[0] > 7.0) {
      throw InvalidInput("start: x is beyond 7");
    }
  }
};

TEST(FiniteSum, InBatchesKnowsWhatTheWholeKnows) {
  const KnownSum problem(10, 7, 2);
  const auto batches = in_batches(problem, 2);
  auto state = problem.start();
  state.x[0] = 8.0;
  EXPECT_EQ(refusal([&] { (void)solve(batches, Soba{}, state, {.max_iterations = 1}); }), "start: x is beyond 7");
  state = problem.start();
  EXPECT_EQ(batches.answer()->x, problem.answer_x());
  EXPECT_EQ(batches.held_out(state.x, state.y), 0.25);
  EXPECT_TRUE(batches.respond(state.x, state.y, state.v));
  EXPECT_EQ(state.y[0], 3.0);
  EXPECT_EQ(x_scale(batches), problem.x_scale());
  EXPECT_EQ(y_scale(batches), problem.y_scale());
}

/// Leaves a step in its middle, as one that takes too long after a signal: at one of its gradients.
class LeftInAStep : public NoisySum {
public:
  LeftInAStep(std::int64_t gradients, std::atomic<bool> &interrupt)
      : NoisySum(10, 7, 2), left_(std::make_shared<std::int64_t>(gradients)), interrupt_(&interrupt) {}

  class Lower : public NoisySum::Lower {
  public:
    Lower(NoisySum::Lower inner, std::shared_ptr<std::int64_t> left, std::atomic<bool> *interrupt)
        : NoisySum::Lower(inner), left_(std::move(left)), interrupt_(interrupt) {}
    void grad_y(Vec &out) const {
      if (--*left_ == 0) {
        interrupt_->store(true);
        throw Cancelled{};
      }
      NoisySum::Lower::grad_y(out);
    }

  private:
    std::shared_ptr<std::int64_t> left_;
    std::atomic<bool> *interrupt_;
  };
  [[nodiscard]] Lower lower(const Batch &batch) const { return {NoisySum::lower(batch), left_, interrupt_}; }
  [[nodiscard]] Lower lower() const { return {NoisySum::lower(), left_, interrupt_}; }

private:
  std::shared_ptr<std::int64_t> left_;
  std::atomic<bool> *interrupt_;
};

TEST(FiniteSum, OfARunThatWasLeftInAStepGoesOnWithTheSameBatches) {
  constexpr std::int64_t never = std::int64_t{1} << 40;
  const F2sa method{.alpha = 0.05, .beta = 0.1, .inner = 4}; // of eight gradients of f in y a step
  const auto run = [&](std::int64_t gradients, std::int64_t steps, const Saving &saving) {
    std::atomic<bool> interrupt = false;
    const LeftInAStep problem(gradients, interrupt);
    auto state = problem.start();
    const auto summary = solve(in_batches(problem, {.lower = 2, .upper = 3}), method, state,
                               {.max_iterations = steps, .interrupt = &interrupt, .seed = 3, .saving = &saving});
    return std::pair{summary, state};
  };
  SavedState saved;
  const auto keep = [&](const SavedState &state) { saved = state; };
  const auto whole = run(never, 30, {}).second;
  for (const std::int64_t gradients : {2, 8 * 3 + 6}) { // in the first step that goes on, and in a later one
    (void)run(never, 8, {.save = keep, .every_seconds = infinity});
    const SavedState after_eight = saved;
    const auto left = run(gradients, 30, {.save = keep, .every_seconds = infinity, .from = &after_eight}).first;
    ASSERT_EQ(left.termination, Termination::interrupted) << left.brief();
    ASSERT_EQ(left.iterations, 8 + gradients / 8) << "the step that was left is not counted";
    const SavedState unfinished = saved;
    const auto [second, resumed] = run(never, 30, {.from = &unfinished});
    EXPECT_EQ(second.iterations, 30);
    EXPECT_TRUE(same_bits(resumed, whole)) << gradients;
  }
}

TEST(FiniteSum, IsDrawnInBatchesWithinBounds) {
  const NoisySum problem(10, 7, 2);
  const double bound = problem.answer_x().maxCoeff() - 0.1; // which holds one entry at least
  const auto inside = bounded(problem, -10.0, bound);
  const Options options{.max_iterations = 3000};
  const auto of_bounded = after_batches(in_batches(inside, 2), Saba{}, options);
  const auto of_batches = after_batches(bounded(in_batches(problem, 2), -10.0, bound), Saba{}, options);
  EXPECT_EQ(of_bounded.x.maxCoeff(), bound);
  EXPECT_TRUE(same_bits(of_bounded, of_batches));
}

} // namespace
} // namespace duplex::testing
