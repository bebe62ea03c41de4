// What models see of features, and fits that judge what they have not seen: each against its definition.

#include "support.hpp"

#include "clean/cleaning.hpp"
#include "clean/landmarks.hpp"
#include "clean/learner.hpp"
#include "clean/linear.hpp"
#include "clean/out_of_fold.hpp"
#include "clean/pooling.hpp"

#include <cmath>
#include <numeric>

namespace duplex::testing {
namespace {

FeatureTable table_of(Index columns, const std::vector<float> &values) {
  FeatureTable table(Storage::float32, columns);
  table.append(std::span<const float>(values));
  return table;
}

std::vector<float> some_numbers(Index count, std::uint64_t seed) {
  const Vec random = random_vector(count, seed);
  std::vector<float> out;
  for (const double number : random) {
    out.push_back(static_cast<float>(number));
  }
  return out;
}

std::vector<Index> first_rows(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

TEST(RobustMap, ClipsOnlyWhatIsFarOut) {
  EXPECT_EQ(clean::robust_map(table_of(2, {0.0F, -6.0F, 6.0F, 1.0F}), false), clean::ColumnMap::as_it_is);
  EXPECT_EQ(clean::robust_map(table_of(2, {0.0F, -6.0F, 6.1F, 1.0F}), false), clean::ColumnMap::clipped);
  EXPECT_EQ(clean::robust_map(table_of(2, {0.0F, -6.0F, 6.1F, 1.0F}), true), clean::ColumnMap::as_it_is);
  const clean::ColumnRule rule{.kind = clean::ColumnMap::clipped};
  EXPECT_EQ(rule(0, std::numeric_limits<float>::infinity()), 6.0F);
  EXPECT_EQ(rule(0, -2.5F), -2.5F);
}

TEST(Ranks, AreNormalWhateverTheUnitOfAColumn) {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    values.insert(values.end(), {1e4F * std::exp(0.001F * static_cast<float>(i * 37 % 1000)), 7.0F});
  }
  const FeatureTable table = table_of(2, values);
  const auto rule = clean::ranks_of(table);
  double mean = 0.0;
  double square = 0.0;
  for (Index i = 0; i < 1000; ++i) {
    const auto value = static_cast<double>(rule(0, table.value(i, 0)));
    mean += value / 1000.0;
    square += value * value / 1000.0;
    EXPECT_EQ(rule(1, table.value(i, 1)), 0.0F) << "a column that never varies";
  }
  EXPECT_NEAR(mean, 0.0, 0.02);
  EXPECT_NEAR(square, 1.0, 0.02);
  EXPECT_NEAR(rule(0, 1e4F * std::exp(0.841F)), 1.0, 0.02) << "Φ(1) = .841";
  EXPECT_NEAR(rule(0, 1e37F), rule(0, 1e4F * std::exp(0.999F)), 1e-3) << "flat beyond the last";
}

TEST(LandmarkFeatures, HaveTheProductsOfTheKernelAmongLandmarks) {
  const FeatureTable table = table_of(3, some_numbers(3 * 60, 1));
  const double scale = 2.0 * clean::median_squared_distance(table);
  const auto landmarks = clean::choose_landmarks(table, first_rows(12), 0.2 * scale, 1);
  ASSERT_EQ(landmarks.count(), 12);
  const FeatureTable features = clean::kernel_features(landmarks, *landmarks.rows, 1);
  for (Index a = 0; a < 12; ++a) {
    for (Index b = 0; b < 12; ++b) {
      double product = 0.0;
      double distance = 0.0;
      for (Index j = 0; j < 12; ++j) {
        product += static_cast<double>(features.value(a, j) + landmarks.mean[j]) *
                   static_cast<double>(features.value(b, j) + landmarks.mean[j]);
      }
      for (Index j = 0; j < 3; ++j) {
        const double off = static_cast<double>(landmarks.rows->value(a, j) - landmarks.rows->value(b, j));
        distance += off * off;
      }
      EXPECT_NEAR(product, std::exp(-distance / (0.2 * scale)), 1e-4);
    }
  }
}

TEST(LandmarkFeatures, LeaveOutRowsThatOthersTellAllOf) {
  auto values = some_numbers(3 * 10, 2);
  values.insert(values.end(), values.begin(), values.begin() + 30); // each twice
  const FeatureTable table = table_of(3, values);
  EXPECT_LE(clean::choose_landmarks(table, first_rows(20), 5.0, 1).count(), 10);
}

TEST(LandmarkFeatures, AreTheSameBitsOnAnyNumberOfThreadsAndForModelsOfKernelValues) {
  const FeatureTable table = table_of(5, some_numbers(5 * 300, 3));
  const auto landmarks = clean::choose_landmarks(table, first_rows(40), 8.0, 1);
  const FeatureTable one = clean::kernel_features(landmarks, table, 1);
  const FeatureTable three = clean::kernel_features(landmarks, table, 3);
  ASSERT_EQ(one.bytes(), three.bytes());
  EXPECT_EQ(std::memcmp(one.data(), three.data(), one.bytes()), 0);
  const Index width = landmarks.count() + 1;
  const Eigen::VectorXf model = random_vector(2 * width, 4).cast<float>();
  const clean::Vector written = clean::on_kernel_values(landmarks, model, 2);
  const FeatureTable values = clean::kernel_values(landmarks, table, 1);
  for (Index i = 0; i < 20; ++i) {
    double by_features = static_cast<double>(model[width - 1]);
    double by_values = static_cast<double>(written[width - 1]);
    for (Index j = 0; j + 1 < width; ++j) {
      by_features += static_cast<double>(model[j]) * static_cast<double>(one.value(i, j));
      by_values += static_cast<double>(written[j]) * static_cast<double>(values.value(i, j));
    }
    EXPECT_NEAR(by_features, by_values, 1e-3);
  }
}

/// −log Σ_k p_k P(label | k) at its minimum has no slope, by differences of its value.
TEST(ForwardLoss, IsMinimizedByTheFit) {
  const Index rows = 90;
  std::vector<std::uint32_t> labels;
  clean::Matrix told(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    labels.push_back(static_cast<std::uint32_t>(i % 3 == 0));
    told(i, 0) = labels.back() == 0 ? 0.8F : 0.2F;
    told(i, 1) = labels.back() == 0 ? 0.3F : 0.7F;
  }
  const LabelledSamples samples{std::make_shared<const FeatureTable>(table_of(2, some_numbers(2 * rows, 5))),
                                std::make_shared<const std::vector<std::uint32_t>>(labels)};
  const auto classifier = clean::make_linear(2, 2, 1.0, 1);
  const clean::WeightedSamples part{samples, clean::Vector::Ones(rows), std::make_shared<const clean::Matrix>(told)};
  clean::Vector model = classifier->untrained();
  constexpr double rho = 0.05;
  classifier->fit({&part, 1}, {.rho = rho, .iterations = 200}, model);
  const auto value = [&](const clean::Vector &at) {
    const clean::Matrix log_p = classifier->log_probabilities(samples, at);
    double sum = 0.0;
    for (Index i = 0; i < rows; ++i) {
      sum -=
          std::log(std::exp(log_p(i, 0)) * told(i, 0) + std::exp(log_p(i, 1)) * told(i, 1)) / static_cast<double>(rows);
    }
    for (Index j = 0; j < at.size(); ++j) {
      const double weight = j % 3 == 2 ? 1e-3 : 1.0; // of a bias
      sum += 0.5 * rho * weight * static_cast<double>(at[j]) * static_cast<double>(at[j]);
    }
    return sum;
  };
  for (Index j = 0; j < model.size(); ++j) {
    clean::Vector up = model;
    clean::Vector down = model;
    up[j] += 0.05F;
    down[j] -= 0.05F;
    EXPECT_NEAR((value(up) - value(down)) / 0.1, 0.0, 2e-3) << j;
    EXPECT_GT(value(up) + value(down), 2.0 * value(model)) << j;
  }
}

/// A part of the rows has its likelihoods somewhere among those of all rows.
TEST(ForwardLoss, TakesTheLikelihoodsOfItsOwnRows) {
  const Index rows = 40;
  const Index before = 7;
  std::vector<std::uint32_t> labels;
  clean::Matrix own(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    labels.push_back(static_cast<std::uint32_t>(i % 3 == 0));
    own(i, 0) = 0.3F + 0.01F * static_cast<float>(i);
    own(i, 1) = 0.9F - 0.02F * static_cast<float>(i);
  }
  clean::Matrix of_all = clean::Matrix::Constant(before + rows + 3, 2, 0.5F);
  of_all.middleRows(before, rows) = own;
  const auto dense = std::make_shared<const FeatureTable>(table_of(2, some_numbers(2 * rows, 5)));
  SparseEntries entries;
  for (Index i = 0; i < rows; ++i) {
    entries.columns.insert(entries.columns.end(), {0, 1});
    entries.values.insert(entries.values.end(), {dense->value(i, 0), dense->value(i, 1)});
    entries.ends.push_back(entries.values.size());
  }
  const auto sparse = std::make_shared<const FeatureTable>(std::move(entries), 2);
  for (const auto &table : {dense, sparse}) {
    const LabelledSamples samples{table, std::make_shared<const std::vector<std::uint32_t>>(labels)};
    const auto fitted_with = [&](const clean::Matrix &likelihoods, Index first) {
      const auto classifier = clean::make_linear(2, 2, 1.0, 1);
      const std::vector<clean::WeightedSamples> parts{
          {samples, clean::Vector::Ones(rows), std::make_shared<const clean::Matrix>(likelihoods), first},
          {samples, clean::Vector::Ones(rows)}};
      clean::Vector model = classifier->untrained();
      classifier->fit(parts, {.rho = 0.05, .iterations = 30}, model);
      return model;
    };
    const clean::Vector expected = fitted_with(own, 0);
    EXPECT_EQ(fitted_with(of_all, before), expected);
    EXPECT_NE(fitted_with(of_all, 0), expected);
  }
}

TEST(PoolingWeights, PreferWhoeverIsRight) {
  const Index rows = 200;
  clean::Matrix knows(rows, 2);
  clean::Matrix guesses(rows, 2);
  clean::Matrix told(rows, 2);
  std::vector<std::uint32_t> right;
  for (Index i = 0; i < rows; ++i) {
    const Index truth = i % 2;
    right.push_back(static_cast<std::uint32_t>(truth));
    knows(i, truth) = -0.5F;
    knows(i, 1 - truth) = -1.2F;
    guesses(i, i % 3 == 0 ? 0 : 1) = -0.3F;
    guesses(i, i % 3 == 0 ? 1 : 0) = -1.4F;
    told(i, truth) = 0.9F;
    told(i, 1 - truth) = 0.1F;
  }
  const std::array<clean::Voice, 2> voices{clean::Voice{&knows, &knows}, {&guesses, &guesses}};
  const Eigen::VectorXd a = clean::pooling_weights(voices, {told, right}, Eigen::Vector2d(0.0, 1.0));
  EXPECT_GT(a[0], 2.0);
  EXPECT_LT(a[1], 0.3);
  EXPECT_GE(a[1], 0.0);
  const std::array<const clean::Matrix *, 1> other{&guesses};
  const clean::Matrix log_p = clean::pooled(knows, other, a);
  EXPECT_NEAR(log_p.array().exp().rowwise().sum().maxCoeff(), 1.0F, 1e-5F);
}

/// Each row's label is its own secret: a model that has seen it knows it, one that has not cannot.
TEST(OutOfFold, ModelsHaveNotSeenWhatTheyJudge) {
  const Index rows = 60;
  std::vector<float> values(static_cast<std::size_t>(rows * rows), 0.0F);
  std::vector<std::uint32_t> labels;
  for (Index i = 0; i < rows; ++i) {
    values[static_cast<std::size_t>(i * rows + i)] = 5.0F;
    labels.push_back(static_cast<std::uint32_t>(i % 2));
  }
  const LabelledSamples samples{std::make_shared<const FeatureTable>(table_of(rows, values)),
                                std::make_shared<const std::vector<std::uint32_t>>(labels)};
  clean::MappedSamples all({samples, 5}, {.samples = {}, .folds = 5}, *samples.features);
  const clean::Learner learner({clean::ColumnMap::as_it_is, 0.0}, all, {.classes = 2, .threads = 1});
  clean::OutOfFold fitted;
  fitted.rho = 1e-4;
  clean::fit_folds(learner, {}, fitted);
  ASSERT_EQ(fitted.training.rows(), rows);
  for (Index i = 0; i < rows; ++i) {
    EXPECT_NEAR(std::exp(fitted.training(i, 0)), 0.5F, 0.1F) << i;
  }
}

TEST(OutOfFold, ModelsSayTheSameBitsAgain) {
  const Index rows = 60;
  std::vector<std::uint32_t> labels;
  for (Index i = 0; i < rows; ++i) {
    labels.push_back(static_cast<std::uint32_t>(i % 3));
  }
  const auto samples_of = [&](std::uint64_t seed) {
    return LabelledSamples{std::make_shared<const FeatureTable>(table_of(4, some_numbers(4 * rows, seed))),
                           std::make_shared<const std::vector<std::uint32_t>>(labels)};
  };
  const LabelledSamples training = samples_of(6);
  clean::MappedSamples all({training, 5}, {samples_of(7), 5}, *training.features);
  const clean::Learner learner({clean::ColumnMap::as_it_is, 0.0}, all, {.classes = 3, .threads = 1});
  clean::OutOfFold fitted;
  fitted.rho = 1e-2;
  clean::fit_folds(learner, {}, fitted);
  clean::OutOfFold again{.models = fitted.models, .rho = fitted.rho, .training = {}, .trusted = {}};
  clean::judge_folds(learner, nullptr, again);
  EXPECT_EQ(again.training, fitted.training);
  EXPECT_EQ(again.trusted, fitted.trusted);
  const std::atomic<bool> interrupt = true;
  EXPECT_THROW(clean::judge_folds(learner, &interrupt, again), Interrupted);
}

TEST(FitnessOf, ScoresIsLeastAtTheSharpnessAndThePartByChanceThatTheyHave) {
  const Index rows = 2000;
  clean::Unseen unseen{.training = clean::Matrix(rows, 2), .trusted = clean::Matrix(0, 2), .given = {}, .right = {}};
  for (Index i = 0; i < rows; ++i) { // certain of the first class, of which a tenth is called otherwise
    unseen.training(i, 0) = -0.001F;
    unseen.training(i, 1) = -6.9F;
    unseen.given.push_back(i % 10 == 0 ? 1 : 0);
  }
  const auto fitness = clean::fitness_of(unseen);
  EXPECT_NEAR(fitness.by_chance, 0.2, 1e-9) << "half of what is drawn by chance is right";
  EXPECT_NEAR(fitness.loss, -2000.0 * (0.9 * std::log(0.9) + 0.1 * std::log(0.1)), 2.0);
}

LabelledSamples few_rows(const std::vector<float> &values, const std::vector<std::uint32_t> &labels) {
  return {std::make_shared<const FeatureTable>(table_of(1, values)),
          std::make_shared<const std::vector<std::uint32_t>>(labels)};
}

TEST(Cleaning, OfNextToNothingIsFinite) {
  const auto expect_finite = [](const LabelledSamples &training, const LabelledSamples &trusted, const char *what) {
    const auto result = clean::clean(training, trusted, 2, {.threads = 1});
    EXPECT_TRUE(result.trust.allFinite()) << what;
    EXPECT_TRUE(result.model.parameters.allFinite()) << what;
    EXPECT_TRUE(std::isfinite(result.skill)) << what;
  };
  const auto one = few_rows({0.5F}, {1});
  expect_finite(few_rows({0.0F, 1.0F, 2.0F}, {0, 1, 1}), one, "three rows and one that is trusted");
  expect_finite(few_rows({0.0F, 1.0F}, {0, 1}), {}, "two rows and none that is trusted");
  expect_finite(few_rows({1.0F, 1.0F, 1.0F, 1.0F}, {0, 1, 0, 1}), one, "a feature that never varies");
  expect_finite(few_rows({1e30F, -1e30F, 3e38F, 0.0F, 1.0F, 2.0F}, {0, 1, 0, 1, 0, 1}), one, "huge features");
  std::vector<float> many = some_numbers(40, 6);
  std::vector<std::uint32_t> labels(40, 1);
  labels[3] = labels[7] = 0;
  expect_finite(few_rows(many, labels), few_rows(some_numbers(12, 7), std::vector<std::uint32_t>(12, 1)),
                "trusted rows of one class");
}

TEST(Cleaning, GivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<std::uint32_t> labels;
  for (int i = 0; i < 400; ++i) {
    labels.push_back(static_cast<std::uint32_t>(i % 2));
  }
  const LabelledSamples training{std::make_shared<const FeatureTable>(table_of(4, some_numbers(1600, 8))),
                                 std::make_shared<const std::vector<std::uint32_t>>(labels)};
  const auto one = clean::clean(training, {}, 2, {.threads = 1});
  const auto three = clean::clean(training, {}, 2, {.threads = 3});
  EXPECT_EQ(one.trust, three.trust);
  EXPECT_EQ(one.model.parameters, three.model.parameters);
}

} // namespace
} // namespace duplex::testing
