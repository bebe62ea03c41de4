// The bilevel runs of a cleaning: steps that are far too long are refused or mended by the engine.

#include "support.hpp"

#include "clean/bilevel.hpp"
#include "clean/bilevel_run.hpp"
#include "clean/cleaning.hpp"

#include <stdexcept>

namespace duplex::testing {
namespace {

/// Two clouds of points, of which every fifth has the other's label where `noisy`.
LabelledSamples clouds_of(Index rows, bool noisy, std::uint64_t seed) {
  FeatureTable features(Storage::float32, 2);
  std::vector<std::uint32_t> labels;
  const Vec noise = random_vector(2 * rows, seed);
  for (Index i = 0; i < rows; ++i) {
    const std::uint32_t side = i % 2 == 0 ? 0 : 1;
    const std::array<float, 2> row{static_cast<float>((side == 0 ? -1.5 : 1.5) + noise[2 * i]),
                                   static_cast<float>(noise[2 * i + 1])};
    features.append(row);
    labels.push_back(noisy && i % 5 == 0 ? 1 - side : side);
  }
  return {std::make_shared<const FeatureTable>(std::move(features)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

clean::Result cleaned_by(const std::string &solver) {
  clean::Options options;
  options.solver = solver;
  options.threads = 1;
  return clean::clean(clouds_of(400, true, 1), clouds_of(60, false, 2), 2, options);
}

TEST(BilevelRuns, RefuseASolverThatIsNotThere) {
  EXPECT_CONTAINS(refusal([] { (void)cleaned_by("bagdcc"); }), "did you mean 'bagdc'");
  EXPECT_CONTAINS(refusal([] { (void)cleaned_by("bagdc:beta=-1"); }), "beta = -1");
}

/// A problem whose runs end as they are told to.
class EndsAs final : public clean::BilevelProblem {
public:
  explicit EndsAs(Termination termination) : termination_(termination) {}
  [[nodiscard]] double curvature() const override { return 3.0; }
  [[nodiscard]] clean::BilevelAnswer solve(const clean::BilevelRequest &request) const override {
    asked_ = request;
    clean::BilevelAnswer answer;
    answer.summary.termination = termination_;
    answer.summary.message = "the reason";
    answer.summary.metrics = {{"held-out loss", 0.5}};
    return answer;
  }
  [[nodiscard]] const clean::BilevelRequest &asked() const { return asked_; }

private:
  Termination termination_;
  mutable clean::BilevelRequest asked_;
};

TEST(BilevelRuns, SayHowTheyFailed) {
  const clean::Options options;
  const clean::TrainingPlan plan;
  clean::Result result;
  const std::function<void(const clean::Look &)> nobody;
  clean::BilevelRuns runs(options, plan, nobody, result);
  EXPECT_EQ(refusal<std::runtime_error>([&] { (void)runs.run(0, EndsAs(Termination::diverged)); }),
            "the bilevel run diverged: the reason; try a smaller --beta or --alpha");
  EXPECT_EQ(refusal<std::runtime_error>([&] { (void)runs.run(0, EndsAs(Termination::step_failed)); }),
            "the bilevel run failed: the reason");
  EXPECT_EQ(refusal<Interrupted>([&] { (void)runs.run(0, EndsAs(Termination::interrupted)); }), "interrupted");
}

TEST(BilevelRuns, MayBeInterruptedBeforeTheirFirstLook) {
  const auto measure = [](const State<Vec> &) { return clean::Measured{}; };
  const auto ended_as = [&](Termination termination) {
    return clean::run_bilevel<Vec>({}, measure, [&](const auto &, const auto &) {
      Summary summary;
      summary.termination = termination;
      return summary;
    });
  };
  EXPECT_EQ(ended_as(Termination::interrupted).kept_step, 0);
  EXPECT_CONTAINS(refusal([&] { (void)ended_as(Termination::overfitted); }), "the run has no looks");
}

TEST(BilevelRuns, ChooseStepsByTheCurvatureInFourDigits) {
  const std::function<void(const clean::Look &)> nobody;
  const clean::Options options;
  clean::Result result;
  const EndsAs problem(Termination::overfitted);
  const auto number_of = [&](const std::string &option) {
    for (const auto &[name, value] : problem.asked().defaults) {
      if (name == option) {
        return std::get<double>(value);
      }
    }
    return infinity;
  };
  const clean::TrainingPlan convex;
  (void)clean::BilevelRuns(options, convex, nobody, result).run(0, problem);
  EXPECT_EQ(problem.asked().solver, "bagdc");
  EXPECT_EQ(number_of("alpha"), 0.1);
  EXPECT_EQ(number_of("beta"), 0.3333);
  EXPECT_EQ(number_of("eta-cap"), 3.333);
  clean::TrainingPlan other;
  other.convex = false;
  (void)clean::BilevelRuns(options, other, nobody, result).run(0, problem);
  EXPECT_EQ(number_of("eta"), 0.3333);
  EXPECT_EQ(number_of("damping"), 0.3);
  EXPECT_EQ(result.endings[0], "the held-out loss no longer fell by 1 % in 20 steps");
}

TEST(BilevelRuns, NeedNoMendingByTheirOwnSteps) {
  const auto result = cleaned_by("");
  EXPECT_TRUE(result.recoveries[0].empty());
  EXPECT_TRUE(result.recoveries[1].empty());
  EXPECT_CONTAINS(result.solver, "upper=normalized");
  EXPECT_CONTAINS(result.solver, "alpha=0.1:");
}

TEST(BilevelRuns, GoBackAndOnWithShorterStepsWhereTheHeldOutLossRises) {
  const auto calm = cleaned_by("");
  const auto mended = cleaned_by("bagdc:beta=40");
  for (const auto &recoveries : mended.recoveries) {
    ASSERT_FALSE(recoveries.empty());
    EXPECT_CONTAINS(recoveries.front(), "held-out loss was ");
    EXPECT_CONTAINS(recoveries.front(), " with beta = 20, eta-cap = ");
  }
  EXPECT_TRUE(mended.model.allFinite());
  EXPECT_TRUE(mended.weight.allFinite());
  const auto suspects = [](const clean::Result &result) {
    return (result.trust.array() < result.suspect_below).count();
  };
  EXPECT_NEAR(static_cast<double>(suspects(mended)), static_cast<double>(suspects(calm)), 8.0);
  for (const int run : {0, 1}) { // the model that is kept is the best that was seen
    double best = infinity;
    std::int64_t at = 0;
    for (const auto &look : mended.looks) {
      if (look.run == run && look.held_out_loss < best) {
        best = look.held_out_loss;
        at = look.step;
      }
    }
    EXPECT_EQ(mended.best_step[static_cast<std::size_t>(run)], at);
  }
}

} // namespace
} // namespace duplex::testing
