// Softmax regression on sparse samples against the same samples as a dense table, on sizes that fit no tile and no
// block, and on one and several threads.

#include "support.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

namespace duplex::testing {
namespace {

struct BothForms {
  LabelledSamples sparse;
  LabelledSamples dense;
};

/// About one value in ten is not zero.
BothForms drawn_samples(Index rows, Index columns, Index classes, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  SparseEntries entries;
  auto labels = std::make_shared<std::vector<std::uint32_t>>();
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      if (generator() % 10 == 0) {
        entries.columns.push_back(static_cast<std::uint32_t>(j));
        entries.values.push_back(static_cast<float>(generator() % 1000) / 500.0F - 1.0F);
      }
    }
    entries.ends.push_back(entries.values.size());
    labels->push_back(static_cast<std::uint32_t>(generator() % static_cast<std::uint64_t>(classes)));
  }
  FeatureTable dense(entries, columns);
  dense.store_as_dense();
  return {{std::make_shared<const FeatureTable>(std::move(entries), columns), labels},
          {std::make_shared<const FeatureTable>(std::move(dense)), labels}};
}

template <class T> Eigen::Matrix<T, Eigen::Dynamic, 1> drawn_vector(Index size, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Eigen::Matrix<T, Eigen::Dynamic, 1> out(size);
  for (auto &value : out) {
    value = static_cast<T>(generator() % 1000) / T(500) - T(1);
  }
  return out;
}

class SparseSoftmax : public ::testing::TestWithParam<Index> {};

TEST_P(SparseSoftmax, AgreesWithTheDenseTable) {
  const Index classes = GetParam();
  const auto samples = drawn_samples(131, 37, classes, 1);
  SoftmaxLoss<double> sparse(samples.sparse, classes);
  SoftmaxLoss<double> dense(samples.dense, classes);
  const auto y = drawn_vector<double>(sparse.y_size(), 2);
  const auto v = drawn_vector<double>(sparse.y_size(), 3);
  const Eigen::VectorXd weights = drawn_vector<double>(sparse.rows(), 4).cwiseAbs();
  sparse.at(y);
  dense.at(y);
  EXPECT_NEAR(sparse.value(weights), dense.value(weights), 1e-11);
  EXPECT_LE((sparse.probabilities() - dense.probabilities()).cwiseAbs().maxCoeff(), 1e-14);
  Eigen::VectorXd ours;
  Eigen::VectorXd theirs;
  const auto differ = [&] { return (ours - theirs).cwiseAbs().maxCoeff(); };
  sparse.gradient(weights, ours);
  dense.gradient(weights, theirs);
  EXPECT_LE(differ(), 1e-12);
  EXPECT_GT(theirs.cwiseAbs().maxCoeff(), 0.1);
  sparse.hessian(weights, v, ours);
  dense.hessian(weights, v, theirs);
  EXPECT_LE(differ(), 1e-12);
  ours.resize(sparse.rows());
  theirs.resize(dense.rows());
  sparse.slopes(weights, v, ours);
  dense.slopes(weights, v, theirs);
  EXPECT_LE(differ(), 1e-12);
  const auto targets = sparse.probabilities();
  const Eigen::VectorXd elsewhere = 0.5 * y;
  sparse.set_targets(targets);
  dense.set_targets(targets);
  sparse.at(elsewhere);
  dense.at(elsewhere);
  sparse.gradient(weights, ours);
  dense.gradient(weights, theirs);
  EXPECT_LE(differ(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Classes, SparseSoftmax, ::testing::Values(2, 3, 8, 9, 10, 20));

TEST(SparseSoftmaxShares, HaveTheSameBitsOnAnyNumberOfThreads) {
  constexpr Index classes = 12;
  const auto samples = drawn_samples(20000, 300, classes, 5);
  ASSERT_GT(softmax_shares(samples.sparse, classes, 4).count, 1) << "large enough to be shared";
  SoftmaxLoss<float> alone(samples.sparse, classes, 1);
  SoftmaxLoss<float> four(samples.sparse, classes, 4);
  const auto y = drawn_vector<float>(alone.y_size(), 6);
  const Eigen::VectorXf weights = drawn_vector<float>(alone.rows(), 7);
  Eigen::VectorXf one;
  Eigen::VectorXf other;
  alone.at(y);
  four.at(y);
  alone.gradient(weights, one);
  four.gradient(weights, other);
  EXPECT_EQ(one, other);
  alone.hessian(weights, y, one);
  four.hessian(weights, y, other);
  EXPECT_EQ(one, other);
  EXPECT_EQ(alone.probabilities(), four.probabilities());
}

TEST(SparseHyperCleaning, RefusesSparseBesideDenseSamples) {
  const auto samples = drawn_samples(20, 9, 3, 8);
  EXPECT_CONTAINS(refusal([&] { (void)HyperCleaning<float>(samples.sparse, samples.dense, 3, 0.0); }),
                  "one are sparse, expected both or neither");
}

TEST(SparseHyperCleaning, TakesTheStepsOfTheDenseOne) {
  const auto training = drawn_samples(101, 37, 4, 9);
  const auto trusted = drawn_samples(53, 37, 4, 10);
  const HyperCleaning<double> sparse(training.sparse, trusted.sparse, 4, 0.01);
  const HyperCleaning<double> dense(training.dense, trusted.dense, 4, 0.01);
  auto ours = sparse.start();
  auto theirs = dense.start();
  const Bagdc solver{.alpha = 5.0, .beta = 0.5, .eta = 0.5};
  EXPECT_FALSE(run_steps(sparse, solver, ours, 15).failed());
  EXPECT_FALSE(run_steps(dense, solver, theirs, 15).failed());
  EXPECT_GT(theirs.x.cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LE((ours.x - theirs.x).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((ours.y - theirs.y).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LE((ours.v - theirs.v).cwiseAbs().maxCoeff(), 1e-10);
}

} // namespace
} // namespace duplex::testing
