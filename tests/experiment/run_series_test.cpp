// One run of the catalog, as commands and Python ask for it.

#include "experiment/experiment.hpp"
#include "experiment/step_search.hpp"
#include "support.hpp"

namespace duplex::testing {
namespace {

catalog::Problem small_example() { return catalog::make_problem("counter-example:n=3")->make(); }

TEST(RunSeries, EndsWhereItsCallerSaysSo) {
  const auto problem = small_example();
  std::vector<std::int64_t> seen;
  const auto series = experiment::run_series({.problem = problem,
                                              .solver = "bagdc:alpha=0.1:beta=0.2",
                                              .name = "bagdc",
                                              .stop_when = [&](const Progress<catalog::Vector> &progress) {
                                                seen.push_back(progress.iteration);
                                                return progress.iteration == 3;
                                              }});
  EXPECT_EQ(series.summary.termination, Termination::predicate);
  EXPECT_EQ(series.summary.iterations, 3);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(RunSeries, IsMeasuredByTheTruthWhereItEnds) {
  const auto problem = small_example();
  auto series = experiment::run_series({.problem = problem, .solver = "automatic", .name = "automatic"});
  experiment::measure_truth(problem, problem.answer(), series);
  EXPECT_LT(series.final_metric("true-hypergradient"), 1e-4);
  EXPECT_LT(series.final_metric("true-x-error"), 1e-4);
  EXPECT_LT(series.final_metric("true-phi-gap"), 1e-4);
  series.summary.termination = Termination::diverged;
  series.extra.clear();
  experiment::measure_truth(problem, problem.answer(), series);
  EXPECT_TRUE(series.extra.empty()) << "a run that failed has no end to be measured";
}

TEST(MissingSteps, AreGivenToAMethodThatHasNoneAndLeftWhereItHas) {
  const auto lacking = catalog::make_solver("bagdc:alpha=0.3");
  const std::string given = experiment::give_missing_steps(*lacking);
  EXPECT_EQ(given, ":beta=0.2");
  EXPECT_CONTAINS(catalog::spec_text("bagdc", lacking->options()), "bagdc:alpha=0.3:beta=0.2");
  EXPECT_EQ(experiment::give_missing_steps(*lacking), "");
}

} // namespace
} // namespace duplex::testing
