// Softmax regression by the kernels against plain loops, and BAGDC's fused step against the
// general one, on sizes that fit no vector and no block.

#include "support.hpp"

#include "kernels/row_products.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

#include <hwy/targets.h>

#include <limits>

namespace duplex::testing {
namespace {

template <class T> using ColumnOf = Eigen::Matrix<T, Eigen::Dynamic, 1>;

LabelledSamples samples_of(FeatureTable table, std::vector<std::uint32_t> labels) {
  return {std::make_shared<const FeatureTable>(std::move(table)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

/// Whole numbers, so that every storage holds them exactly.
LabelledSamples random_samples(Index rows, Index columns, Index classes, std::uint64_t seed,
                               Storage storage = Storage::float32) {
  std::mt19937_64 generator(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (auto &value : values) {
    value = static_cast<float>(generator() % 8);
  }
  std::vector<std::uint32_t> labels(static_cast<std::size_t>(rows));
  for (auto &label : labels) {
    label = static_cast<std::uint32_t>(generator() % static_cast<std::uint64_t>(classes));
  }
  FeatureTable table(Storage::float32, columns);
  table.append(std::span<const float>(values));
  if (storage == Storage::byte) {
    EXPECT_TRUE(table.store_as_bytes_if_exact());
  } else if (storage == Storage::float16) {
    table.store_as_half();
  }
  table.set_scaling(std::vector<float>(static_cast<std::size_t>(columns), 0.125F),
                    std::vector<float>(static_cast<std::size_t>(columns), -0.5F));
  return samples_of(std::move(table), std::move(labels));
}

TEST(HyperCleaningProblem, RefusesSamplesThatDoNotFit) {
  const auto good = random_samples(6, 3, 3, 0);
  const auto make = [&](const LabelledSamples &training, const LabelledSamples &trusted, Index classes, double rho) {
    return refusal([&] { (void)HyperCleaning<float>(training, trusted, classes, rho); });
  };
  EXPECT_EQ(make(good, good, 3, 0.0), "");
  EXPECT_CONTAINS(make(good, good, 1, 0.0), "1 classes, expected at least 2");
  EXPECT_CONTAINS(make(good, good, 3, -1.0), "rho = -1, expected a finite number >= 0");
  EXPECT_CONTAINS(make(good, random_samples(6, 4, 3, 0), 3, 0.0), "4 features of a trusted sample, expected 3");
  EXPECT_CONTAINS(make({}, good, 3, 0.0), "training: no samples");
  auto short_of_labels = good;
  short_of_labels.labels = std::make_shared<const std::vector<std::uint32_t>>(5, 0);
  EXPECT_CONTAINS(make(good, short_of_labels, 3, 0.0), "trusted: 5 labels for 6 samples");
  auto wrong_label = good;
  wrong_label.labels = std::make_shared<const std::vector<std::uint32_t>>(std::vector<std::uint32_t>{0, 1, 2, 3, 0, 0});
  EXPECT_CONTAINS(make(wrong_label, good, 3, 0.0), "label 3 of sample 4, expected less than the number of classes, 3");
}

TEST(HyperCleaningProblem, MayBeginWithItsLastBatchWhichIsSmaller) {
  const auto samples = random_samples(100, 5, 3, 1);
  const HyperCleaning<double> problem(samples, samples, 3, 0.1);
  const auto batches = in_batches(problem, 64);
  const Vec x = random_vector(problem.x_size(), 2);
  const Vec y = random_vector(problem.y_size(), 3);
  Vec whole;
  auto all = problem.lower();
  all.at(x, y);
  all.grad_y(whole);
  Batch batch = batches.lower_batch(1);
  ASSERT_EQ(batch.count, 36);
  auto lower = problem.lower(batch);
  Vec last;
  lower.at(x, y);
  lower.grad_y(last);
  batch = batches.lower_batch(0);
  Vec first;
  lower.at(x, y);
  lower.grad_y(first);
  EXPECT_LE(relative_error(Vec(0.5 * (first + last)), whole), 1e-13) << "the mean over all batches is the level";
}

TEST(FeatureTableStorage, RefusesWhatDoesNotFit) {
  EXPECT_CONTAINS(refusal([] { FeatureTable(Storage::byte, 0); }), "0 columns, expected at least 1");
  FeatureTable table(Storage::float32, 2);
  const std::vector<float> values{1.0F, 2.0F, 3.0F, 70000.0F};
  table.append(std::span<const float>(values));
  EXPECT_CONTAINS(refusal([&] { table.store_as_half(); }), "row 2, feature 2: 70000");
  EXPECT_FALSE(table.store_as_bytes_if_exact());
  EXPECT_CONTAINS(refusal([&] { table.set_scaling({1.0F}, {}); }), "scaling of 1 and 0 columns, expected 2 or none");
  EXPECT_EQ(table.value(1, 1), 70000.0F);
  const std::vector<float> broken{1.0F, 2.0F, 3.0F};
  EXPECT_CONTAINS(refusal([&] { table.append(std::span<const float>(broken)); }), "expected rows of 2");
  const std::vector<std::uint8_t> bytes{1, 2};
  EXPECT_CONTAINS(refusal([&] { table.append(std::span<const std::uint8_t>(bytes)); }), "of another kind");
  EXPECT_CONTAINS(refusal([&] { (void)table.slice(1, 2); }), "rows 1 to 3 of 2");
  EXPECT_CONTAINS(refusal([&] { table.reorder(std::vector<Index>{0, 0}); }), "not a permutation");
  FeatureTable part = table.slice(1, 1);
  EXPECT_CONTAINS(refusal([&] { part.append(std::span<const float>(values)); }), "shared with a slice");
  EXPECT_CONTAINS(refusal([&] { (void)part.store_as_bytes_if_exact(); }), "shared with a slice");
}

TEST(FeatureTableStorage, GivesRowsInAnyOrder) {
  const auto samples = random_samples(6, 2, 2, 3, Storage::byte);
  const FeatureTable &table = *samples.features;
  const std::vector<Index> order{3, 0, 5, 1, 4, 2};
  const FeatureTable gathered = table.gather(order);
  FeatureTable reordered = table.gather(std::vector<Index>{0, 1, 2, 3, 4, 5});
  reordered.reorder(order);
  const FeatureTable slice = reordered.slice(2, 3);
  EXPECT_EQ(slice.rows(), 3);
  for (Index j = 0; j < 2; ++j) {
    for (Index i = 0; i < 6; ++i) {
      EXPECT_EQ(gathered.value(i, j), table.value(order[static_cast<std::size_t>(i)], j));
      EXPECT_EQ(reordered.value(i, j), gathered.value(i, j));
    }
    EXPECT_EQ(slice.value(1, j), reordered.value(3, j));
  }
}

TEST(FeatureTableStorage, KeepsValuesInEveryForm) {
  for (const auto storage : {Storage::float32, Storage::float16, Storage::byte}) {
    const auto samples = random_samples(5, 7, 2, 3, storage);
    EXPECT_EQ(samples.features->storage(), storage);
    EXPECT_EQ(samples.features->bytes(), 35 * bytes_of(storage));
    std::mt19937_64 generator(3);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 7; ++j) {
        EXPECT_EQ(samples.features->value(i, j), -0.5F + 0.125F * static_cast<float>(generator() % 8));
      }
    }
  }
}

/// Everything by definition, in double precision.
struct Plain {
  double value = 0.0;
  Vec gradient;
  Vec hessian;
  Vec slopes;
};

Plain plain_loss(const LabelledSamples &samples, Index classes, const Vec &y, const Vec &weights, const Vec &v) {
  const FeatureTable &table = *samples.features;
  const Index stride = table.columns() + 1;
  Plain out{0.0, Vec::Zero(y.size()), Vec::Zero(y.size()), Vec::Zero(table.rows())};
  for (Index i = 0; i < table.rows(); ++i) {
    Vec a(stride);
    for (Index j = 0; j < table.columns(); ++j) {
      a[j] = table.value(i, j);
    }
    a[table.columns()] = 1.0;
    Vec z(classes);
    Vec s(classes);
    for (Index k = 0; k < classes; ++k) {
      z[k] = y.segment(k * stride, stride).dot(a);
      s[k] = v.segment(k * stride, stride).dot(a);
    }
    const double largest = z.maxCoeff();
    Vec p = (z.array() - largest).exp();
    const double total = p.sum();
    p /= total;
    const auto label = static_cast<Index>((*samples.labels)[static_cast<std::size_t>(i)]);
    out.value += weights[i] * (largest + std::log(total) - z[label]);
    Vec residual = p;
    residual[label] -= 1.0;
    const double mean = p.dot(s);
    out.slopes[i] = weights[i] * residual.dot(s);
    for (Index k = 0; k < classes; ++k) {
      out.gradient.segment(k * stride, stride) += weights[i] * residual[k] * a;
      out.hessian.segment(k * stride, stride) += weights[i] * p[k] * (s[k] - mean) * a;
    }
  }
  return out;
}

template <class T> void expect_loss_by_definition(double tolerance) {
  for (const auto &[rows, columns, classes] : {std::array<Index, 3>{1, 1, 2},
                                               {47, 3, 3},
                                               {48, 16, 10},
                                               {49, 17, 4},
                                               {100, 33, 11},
                                               {101, 32, 21},
                                               {7, 15, 21},
                                               {200, 5, 2}}) {
    for (const auto storage : {Storage::float32, Storage::float16, Storage::byte}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x " + std::to_string(classes));
      const auto samples = random_samples(rows, columns, classes, 5, storage);
      SoftmaxLoss<T> loss(samples, classes);
      const ColumnOf<T> y = random_vector<ColumnOf<T>>(loss.y_size(), 6);
      const ColumnOf<T> v = random_vector<ColumnOf<T>>(loss.y_size(), 7);
      const ColumnOf<T> weights = random_vector<ColumnOf<T>>(rows, 8).cwiseAbs();
      const auto plain = plain_loss(samples, classes, y.template cast<double>(), weights.template cast<double>(),
                                    v.template cast<double>());
      loss.at(y);
      ColumnOf<T> out;
      EXPECT_NEAR(loss.value(weights) / plain.value, 1.0, tolerance);
      loss.gradient(weights, out);
      EXPECT_LE(relative_error(out.template cast<double>(), plain.gradient), tolerance);
      loss.hessian(weights, v, out);
      EXPECT_LE(relative_error(out.template cast<double>(), plain.hessian), 10 * tolerance);
      out.resize(rows);
      loss.slopes(weights, v, out);
      EXPECT_LE(relative_error(out.template cast<double>(), plain.slopes), 10 * tolerance);
      const auto probabilities = loss.probabilities();
      EXPECT_NEAR(static_cast<double>(probabilities.sum()), static_cast<double>(rows), 1e-4);
    }
  }
}

TEST(SoftmaxLossOf, DoublesIsItsDefinition) { expect_loss_by_definition<double>(1e-12); }
TEST(SoftmaxLossOf, FloatsIsItsDefinition) { expect_loss_by_definition<float>(2e-5); }

TEST(SoftmaxLossOf, EveryInstructionSetIsItsDefinition) {
  const auto supported = hwy::SupportedTargets();
  for (std::int64_t target = 1; target > 0; target <<= 1) {
    if ((supported & target) != 0) {
      SCOPED_TRACE(hwy::TargetName(target));
      hwy::SetSupportedTargetsForTest(target);
      expect_loss_by_definition<double>(1e-12);
      expect_loss_by_definition<float>(2e-5);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(SoftmaxLossOf, TargetsThatAreCertainIsThatOfLabels) {
  const auto samples = random_samples(70, 9, 4, 1);
  SoftmaxLoss<double> by_label(samples, 4);
  SoftmaxLoss<double> by_target(samples, 4);
  SoftmaxLoss<double>::Matrix targets = SoftmaxLoss<double>::Matrix::Zero(70, 4);
  for (Index i = 0; i < 70; ++i) {
    targets(i, (*samples.labels)[static_cast<std::size_t>(i)]) = 1.0;
  }
  by_target.set_targets(targets);
  const Vec y = random_vector(by_label.y_size(), 2);
  const Vec weights = random_vector(70, 3).cwiseAbs();
  by_label.at(y);
  by_target.at(y);
  EXPECT_NEAR(by_label.value(weights), by_target.value(weights), 1e-10);
  Vec expected;
  Vec found;
  by_label.gradient(weights, expected);
  by_target.gradient(weights, found);
  EXPECT_LE(relative_error(found, expected), 1e-12);
}

TEST(SoftmaxLossOf, UncertainTargetsIsTheirMean) {
  const auto samples = random_samples(30, 4, 3, 1);
  SoftmaxLoss<double> loss(samples, 3);
  const SoftmaxLoss<double>::Matrix targets = SoftmaxLoss<double>::Matrix::Constant(30, 3, 1.0 / 3.0);
  const Vec y = random_vector(loss.y_size(), 2);
  const Vec weights = Vec::Ones(30);
  double mean = 0.0;
  Vec mean_gradient = Vec::Zero(loss.y_size());
  for (std::uint32_t k = 0; k < 3; ++k) {
    auto relabelled = samples;
    relabelled.labels = std::make_shared<const std::vector<std::uint32_t>>(30, k);
    SoftmaxLoss<double> one(relabelled, 3);
    one.at(y);
    mean += one.value(weights) / 3.0;
    Vec gradient;
    one.gradient(weights, gradient);
    mean_gradient += gradient / 3.0;
  }
  loss.set_targets(targets);
  loss.at(y);
  Vec gradient;
  loss.gradient(weights, gradient);
  EXPECT_NEAR(loss.value(weights), mean, 1e-10);
  EXPECT_LE(relative_error(gradient, mean_gradient), 1e-12);
}

TEST(SoftmaxLossOf, HugeScoresStaysFinite) {
  const auto samples = random_samples(20, 3, 3, 1);
  SoftmaxLoss<float> loss(samples, 3);
  loss.at(Eigen::VectorXf::Constant(loss.y_size(), 1e4F));
  EXPECT_TRUE(std::isfinite(loss.value(Eigen::VectorXf::Ones(20))));
  loss.at(random_vector<Eigen::VectorXf>(loss.y_size(), 2) * 1e4F);
  EXPECT_TRUE(std::isfinite(loss.value(Eigen::VectorXf::Ones(20))));
  Eigen::VectorXf out;
  loss.gradient(Eigen::VectorXf::Ones(20), out);
  EXPECT_TRUE(out.allFinite());
}

struct Sizes {
  Index training;
  Index trusted;
  Index columns;
  Index classes;
};

template <class T>
State<ColumnOf<T>> run_bagdc(const HyperCleaning<T> &problem, const Bagdc &solver, std::int64_t steps,
                             const State<ColumnOf<T>> &start) {
  auto state = start;
  EXPECT_FALSE(run_steps(problem, solver, state, steps).failed());
  return state;
}

template <class T> void expect_fused_is_general(double tolerance, std::int64_t steps, int mixing = 0) {
  for (const auto &size : {Sizes{1, 1, 1, 2}, Sizes{47, 5, 3, 3}, Sizes{49, 48, 16, 10}, Sizes{130, 97, 17, 12}}) {
    for (const auto dual : {DualStep::constant, DualStep::adaptive, DualStep::relaxed}) {
      for (const auto method :
           {UpperMethod::gradient, UpperMethod::momentum, UpperMethod::adam, UpperMethod::normalized}) {
        SCOPED_TRACE(std::string(name_of(dual)) + ", " + std::string(name_of(method)) + ", " +
                     std::to_string(size.training) + " samples");
        const HyperCleaning<T> problem(random_samples(size.training, size.columns, size.classes, 11, Storage::byte),
                                       random_samples(size.trusted, size.columns, size.classes, 12), size.classes,
                                       0.05);
        Bagdc solver{.alpha = 0.3, .beta = 0.1, .eta = 0.2, .dual = dual, .eta_cap = 1.0, .mixing = mixing};
        solver.upper.method = method;
        State<ColumnOf<T>> start{random_vector<ColumnOf<T>>(problem.x_size(), 1),
                                 T(0.1) * random_vector<ColumnOf<T>>(problem.y_size(), 2),
                                 T(0.1) * random_vector<ColumnOf<T>>(problem.y_size(), 3)};
        const auto fused = run_bagdc(problem, solver, steps, start);
        solver.fused = false;
        const auto general = run_bagdc(problem, solver, steps, start);
        const auto error = [](const ColumnOf<T> &a, const ColumnOf<T> &b) {
          return relative_error(a.template cast<double>(), b.template cast<double>());
        };
        EXPECT_LE(error(fused.x, general.x), tolerance);
        EXPECT_LE(error(fused.y, general.y), tolerance);
        EXPECT_LE(error(fused.v, general.v), tolerance);
      }
    }
  }
}

TEST(FusedCleaningStep, IsTheGeneralStepInDoubles) { expect_fused_is_general<double>(1e-9, 40); }
TEST(FusedCleaningStep, IsTheGeneralStepInFloats) { expect_fused_is_general<float>(1e-4, 10); }

TEST(FusedCleaningStep, IsTheGeneralStepWhereStepsAreMixed) { expect_fused_is_general<double>(1e-9, 15, 4); }

TEST(FusedCleaningStep, GivesTheSameBitsForTheSameThreads) {
  const auto training = random_samples(3000, 40, 10, 1);
  const auto trusted = random_samples(500, 40, 10, 2);
  for (const int threads : {1, 2, 3}) {
    const HyperCleaning<float> problem(training, trusted, 10, 0.0, threads);
    const Bagdc solver{.alpha = 100.0, .beta = 0.1, .eta = 0.1, .dual = DualStep::constant};
    const auto once = run_bagdc(problem, solver, 30, problem.start());
    const auto again = run_bagdc(problem, solver, 30, problem.start());
    EXPECT_TRUE(same_bits(once, again)) << threads;
    const HyperCleaning<float> alone(training, trusted, 10, 0.0, 1);
    const auto single = run_bagdc(alone, solver, 30, alone.start());
    EXPECT_LE(relative_error(once.y.cast<double>(), single.y.cast<double>()), 1e-5) << threads;
  }
}

TEST(FusedCleaningStep, DoesNotSeeHowTheFeaturesAreStored) {
  const Bagdc solver{.alpha = 100.0, .beta = 0.1, .eta = 0.1, .dual = DualStep::constant};
  for (const Index columns : {21, 32}) { // with and without padding
    const auto run = [&](Storage storage) {
      const HyperCleaning<float> problem(random_samples(300, columns, 4, 1, storage),
                                         random_samples(80, columns, 4, 2, storage), 4);
      return run_bagdc(problem, solver, 30, problem.start());
    };
    const auto floats = run(Storage::float32);
    EXPECT_TRUE(same_bits(floats, run(Storage::byte)));
    EXPECT_TRUE(same_bits(floats, run(Storage::float16)));
  }
}

} // namespace
} // namespace duplex::testing
