// The metrics that any problem has, against numbers that are known.

#include "scripted_run.hpp"

#include <duplex/run/metrics.hpp>

#include <cmath>

namespace duplex::testing {
namespace {

/// With a start and an answer, which need not be right for a metric to compare with it.
class AnsweredSquares : public TwoSquares {
public:
  [[nodiscard]] static State<Vec> start() { return numbers(3.0, 1.0, 2.0); }
  [[nodiscard]] static std::optional<Answer<Vec>> answer() {
    return Answer<Vec>{number(2.0), number(2.0), number(2.0), 4.0};
  }
};

template <class P> double measured(const P &problem, std::string_view name) {
  const State<Vec> state = numbers(3.0, 1.0, 2.0);
  const Vec previous_x = number(5.0);
  const Vec direction = number(9.0);
  const Counters counters;
  return MetricBook<P>(problem).metric(name).measure(Progress<Vec>{.iteration = 1,
                                                                   .direction_norm = 9.0,
                                                                   .counters = counters,
                                                                   .state = state,
                                                                   .previous_x = previous_x,
                                                                   .direction = direction,
                                                                   .metrics = {}});
}

TEST(MetricBook, RefusesANameThatItDoesNotKnow) {
  const TwoSquares problem;
  EXPECT_CONTAINS(refusal([&] { (void)MetricBook(problem).metric("loss"); }), "metric 'loss' is not known");
}

TEST(MetricBook, RefusesWhatTheProblemCannotGive) {
  const TwoSquares problem;
  for (const std::string_view name : {"phi-gap", "x-error"}) {
    EXPECT_CONTAINS(refusal<NotAvailable>([&] { (void)MetricBook(problem).metric(name); }), "answer is not known");
  }
  EXPECT_CONTAINS(refusal<NotAvailable>([&] { (void)MetricBook(problem).metric("held-out"); }),
                  "no samples that neither level sees");
}

TEST(MetricBook, MeasuresWhatItsNamesSay) {
  const AnsweredSquares problem;
  EXPECT_EQ(measured(problem, "direction"), 9.0);
  // ∇L with L = F − v ∇y f: the blocks x + v, y − v and y − x at x = 3, y = 1, v = 2.
  EXPECT_NEAR(measured(problem, "kkt"), std::sqrt(25.0 + 1.0 + 4.0), 1e-12);
  EXPECT_NEAR(measured(problem, "upper"), 5.0, 1e-12);
  EXPECT_NEAR(measured(problem, "hypergradient"), 6.0, 1e-12);
  EXPECT_NEAR(measured(problem, "hypergradient-error"), 1.0, 1e-12); // |9 − 2·5|, where d was computed
  EXPECT_NEAR(measured(problem, "phi"), 9.0, 1e-12);
  EXPECT_NEAR(measured(problem, "phi-gap"), 5.0 / 4.0, 1e-12);
  EXPECT_NEAR(measured(problem, "x-error"), 1.0 / 2.0, 1e-12);
}

TEST(RelativeErrors, AreAbsoluteWhereTheAnswerIsZero) {
  const Answer<Vec> zero{number(0.0), number(0.0), number(0.0), 0.0};
  Vec scratch;
  EXPECT_EQ(relative_x_error(number(3.0), zero, scratch), 3.0);
  EXPECT_EQ(relative_phi_gap(-2.0, zero), 2.0);
}

} // namespace
} // namespace duplex::testing
