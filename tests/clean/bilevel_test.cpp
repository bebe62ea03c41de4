// Weights of sources by the bilevel engine: steps that are far too long are refused or mended by the engine.

#include "support.hpp"

#include "clean/bilevel.hpp"
#include "clean/bilevel_run.hpp"
#include "clean/cleaning.hpp"
#include "clean/source_problem.hpp"

#include <cmath>
#include <random>
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

/// Of five sources the first is always wrong.
clean::SourcesOfRows five_sources(Index rows) {
  clean::SourcesOfRows sources{.of_row = {}, .count = 5};
  for (Index i = 0; i < rows; ++i) {
    sources.of_row.push_back(static_cast<std::uint32_t>(i % 5));
  }
  return sources;
}

clean::Result cleaned_by(const std::string &solver) {
  clean::Options options;
  options.solver = solver;
  options.threads = 1;
  options.sources = five_sources(400);
  return clean::clean(clouds_of(400, true, 1), clouds_of(60, false, 2), 2, options);
}

TEST(SourceWeights, RefuseSourcesThatDoNotFitTheRows) {
  clean::Options options;
  options.sources = five_sources(399);
  EXPECT_CONTAINS(refusal([&] { (void)clean::clean(clouds_of(400, true, 1), clouds_of(60, false, 2), 2, options); }),
                  "399 sources for 400 samples");
  options.sources = five_sources(400);
  options.sources.count = 4;
  EXPECT_CONTAINS(refusal([&] { (void)clean::clean(clouds_of(400, true, 1), clouds_of(60, false, 2), 2, options); }),
                  "source 4, expected less than the number of sources, 4");
  const HyperCleaning<float> rows(clouds_of(20, true, 1), clouds_of(10, false, 2), 2);
  EXPECT_CONTAINS(refusal([&] { (void)clean::SourceWeighting(rows, five_sources(19)); }),
                  "19 sources for 20 training samples");
}

TEST(SourceWeights, RefuseASolverThatIsNotThere) {
  EXPECT_CONTAINS(refusal([] { (void)cleaned_by("bagdcc"); }), "did you mean 'bagdc'");
  EXPECT_CONTAINS(refusal([] { (void)cleaned_by("bagdc:beta=-1"); }), "beta = -1");
}

/// The derivative by a source's logit is that by the logits of its rows, all moved at once.
TEST(SourceWeights, HaveTheDerivativesOfTheirRows) {
  const HyperCleaning<float> rows(clouds_of(40, true, 1), clouds_of(10, false, 2), 2, 0.1, 1);
  const clean::SourceWeighting problem(rows, five_sources(40));
  ASSERT_EQ(problem.x_size(), 5);
  const Eigen::VectorXf x = random_vector(5, 3).cast<float>();
  const Eigen::VectorXf y = random_vector(problem.y_size(), 4).cast<float>();
  const Eigen::VectorXf v = random_vector(problem.y_size(), 5).cast<float>();
  auto lower = problem.lower();
  lower.at(x, y);
  Eigen::VectorXf by_source;
  lower.cross_xy(v, by_source);
  Eigen::VectorXf of_rows(40);
  for (Index i = 0; i < 40; ++i) {
    of_rows[i] = x[i % 5];
  }
  auto plain = rows.lower();
  plain.at(of_rows, y);
  Eigen::VectorXf by_row;
  plain.cross_xy(v, by_row);
  EXPECT_DOUBLE_EQ(lower.value(), plain.value());
  for (Index source = 0; source < 5; ++source) {
    float sum = 0.0F;
    for (Index i = source; i < 40; i += 5) {
      sum += by_row[i];
    }
    EXPECT_NEAR(by_source[source], sum, 1e-6F);
  }
}

TEST(SourceWeights, AreLeastForTheSourceThatIsWrong) {
  const auto result = cleaned_by("");
  ASSERT_EQ(result.source_weight.size(), 5U);
  ASSERT_EQ(result.source_right.size(), 5U);
  for (std::size_t source = 1; source < 5; ++source) {
    EXPECT_LT(result.source_weight[0], 0.6 * result.source_weight[source]);
    EXPECT_GT(result.source_right[source], 0.8);
  }
  EXPECT_LT(result.source_right[0], 0.3);
  EXPECT_FLOAT_EQ(result.weight[5], static_cast<float>(result.source_weight[0]));
}

/// Twenty annotators, of whom the best never err and the worst do in nine of ten rows; three classes in the plane.
struct Annotated {
  LabelledSamples training;
  LabelledSamples trusted;
  clean::SourcesOfRows sources{.of_row = {}, .count = 20};
  std::vector<bool> wrong;

  explicit Annotated(std::uint64_t seed) {
    constexpr Index rows = 1000;
    constexpr Index sure = 100;
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<double> uniform;
    FeatureTable noisy(Storage::float32, 2);
    FeatureTable right(Storage::float32, 2);
    std::vector<std::uint32_t> given;
    std::vector<std::uint32_t> known;
    for (Index i = 0; i < rows + sure; ++i) {
      const auto truth = static_cast<std::uint32_t>(i % 3);
      const float angle = 2.0944F * static_cast<float>(truth);
      const std::array<float, 2> place{2.0F * std::cos(angle) + normal(generator),
                                       2.0F * std::sin(angle) + normal(generator)};
      if (i >= rows) {
        right.append(place);
        known.push_back(truth);
        continue;
      }
      noisy.append(place);
      const auto source = static_cast<std::uint32_t>(uniform(generator) * 20.0);
      const bool errs = uniform(generator) < 0.9 * static_cast<double>(source) / 19.0;
      sources.of_row.push_back(source);
      given.push_back(errs ? (truth + 1 + (uniform(generator) < 0.5 ? 0 : 1)) % 3 : truth);
      wrong.push_back(errs);
    }
    training = {std::make_shared<const FeatureTable>(std::move(noisy)),
                std::make_shared<const std::vector<std::uint32_t>>(std::move(given))};
    trusted = {std::make_shared<const FeatureTable>(std::move(right)),
               std::make_shared<const std::vector<std::uint32_t>>(std::move(known))};
  }

  /// F1 of the labels that are called wrong.
  [[nodiscard]] double f1(bool with_sources, const std::string &solver) const {
    clean::Options options;
    options.threads = 1;
    options.solver = solver;
    if (with_sources) {
      options.sources = sources;
    }
    const auto result = clean::clean(training, trusted, 3, options);
    double found = 0.0;
    double called = 0.0;
    double all = 0.0;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      const bool is_called = result.trust[static_cast<Index>(i)] < result.suspect_below;
      found += is_called && wrong[i] ? 1.0 : 0.0;
      called += is_called ? 1.0 : 0.0;
      all += wrong[i] ? 1.0 : 0.0;
    }
    return 2.0 * found / (called + all);
  }
};

TEST(Sources, TellMoreOfLabelsThanRowsAlone) {
  double with = 0.0;
  double frozen = 0.0;
  double without = 0.0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Annotated data(seed);
    with += data.f1(true, "");
    frozen += data.f1(true, "bagdc:alpha=1e-9");
    without += data.f1(false, "");
  }
  EXPECT_GT(with, without);
  EXPECT_GT(frozen, without) << "by the sources' matrices alone";
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
  clean::Result result;
  const auto run = [&](Termination termination) {
    (void)clean::solve_bilevel(EndsAs(termination), clean::Options(), {}, result);
  };
  EXPECT_EQ(refusal<std::runtime_error>([&] { run(Termination::diverged); }),
            "the bilevel run diverged: the reason; try a smaller --beta or --alpha");
  EXPECT_EQ(refusal<std::runtime_error>([&] { run(Termination::step_failed); }), "the bilevel run failed: the reason");
  EXPECT_EQ(refusal<Interrupted>([&] { run(Termination::interrupted); }), "interrupted");
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
  (void)clean::solve_bilevel(problem, clean::Options(), {}, result);
  EXPECT_EQ(problem.asked().solver, "bagdc");
  EXPECT_EQ(number_of("alpha"), 0.1);
  EXPECT_EQ(number_of("beta"), 0.3333);
  EXPECT_EQ(number_of("eta-cap"), 3.333);
  EXPECT_EQ(result.ending, "the held-out loss no longer fell by 1 % in 20 steps");
}

TEST(BilevelRuns, NeedNoMendingByTheirOwnSteps) {
  const auto result = cleaned_by("");
  EXPECT_TRUE(result.recoveries.empty());
  EXPECT_CONTAINS(result.solver, "upper=normalized");
  EXPECT_CONTAINS(result.solver, "alpha=0.1:");
  double best = infinity;
  std::int64_t at = 0;
  for (const auto &look : result.looks) { // the weights that are kept are the best that were seen
    if (look.held_out_loss < best) {
      best = look.held_out_loss;
      at = look.step;
    }
  }
  EXPECT_EQ(result.best_step, at);
}

TEST(BilevelRuns, GoBackAndOnWithShorterStepsWhereTheHeldOutLossRises) {
  const auto mended = cleaned_by("bagdc:beta=400");
  ASSERT_FALSE(mended.recoveries.empty());
  EXPECT_CONTAINS(mended.recoveries.front(), " with beta = 200, eta-cap = ");
  EXPECT_TRUE(mended.model.parameters.allFinite());
  EXPECT_TRUE(mended.weight.allFinite());
}

TEST(BilevelRuns, TakeEverySolver) {
  for (const char *solver : {"nosa", "rhg:inner=5", "cg:inner=5", "bagdc:alpha=0.05"}) {
    const auto result = cleaned_by(solver);
    EXPECT_LT(result.source_weight[0], 1.0) << solver;
    EXPECT_TRUE(result.weight.allFinite()) << solver;
  }
}

} // namespace
} // namespace duplex::testing
