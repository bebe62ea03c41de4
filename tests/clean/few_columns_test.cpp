// Sparse samples without the columns that none of them has: the fit is that of all columns.

#include "clean/few_columns.hpp"
#include "clean/linear.hpp"
#include "support.hpp"

namespace duplex::testing {
namespace {

using clean::FewColumns;
using clean::WeightedSamples;

/// Three columns of a hundred, classes by the second of them.
WeightedSamples rows_of_few_words() {
  SparseEntries entries;
  auto labels = std::make_shared<std::vector<std::uint32_t>>();
  for (std::uint32_t i = 0; i < 30; ++i) {
    entries.columns.insert(entries.columns.end(), {7, 40, 99});
    entries.values.insert(entries.values.end(), {1.0F, i % 2 == 0 ? 1.0F : -1.0F, static_cast<float>(i % 5)});
    entries.ends.push_back(entries.values.size());
    labels->push_back(i % 2);
  }
  return {{std::make_shared<const FeatureTable>(std::move(entries), 100), labels}, Eigen::VectorXf::Ones(30)};
}

TEST(FewColumns, AreThoseThatARowHas) {
  const auto samples = rows_of_few_words();
  const FewColumns columns({&samples, 1});
  ASSERT_EQ(columns.count(), 3);
  const auto few = columns.restricted(samples.samples);
  EXPECT_EQ(few.features->columns(), 3);
  for (Index i = 0; i < 30; ++i) {
    EXPECT_EQ(few.features->value(i, 0), samples.samples.features->value(i, 7));
    EXPECT_EQ(few.features->value(i, 1), samples.samples.features->value(i, 40));
    EXPECT_EQ(few.features->value(i, 2), samples.samples.features->value(i, 99));
  }
  Eigen::VectorXf model = Eigen::VectorXf::LinSpaced(2 * 101, 1.0F, 202.0F);
  Eigen::VectorXf back = model;
  columns.expand(columns.restricted(model, 2), 2, back);
  for (Index j = 0; j < model.size(); ++j) {
    const Index column = j % 101;
    const bool kept = column == 7 || column == 40 || column == 99 || column == 100;
    EXPECT_EQ(back[j], kept ? model[j] : 0.0F) << j;
  }
}

TEST(FewColumns, OfRowsWithoutEntriesAreOne) {
  const WeightedSamples empty{{std::make_shared<const FeatureTable>(SparseEntries{{0, 0}, {}, {}}, 5),
                               std::make_shared<const std::vector<std::uint32_t>>(std::vector<std::uint32_t>{0, 1})},
                              Eigen::VectorXf::Ones(2)};
  const FewColumns columns({&empty, 1});
  EXPECT_EQ(columns.count(), 1);
  EXPECT_EQ(columns.restricted(empty.samples).features->rows(), 2);
}

TEST(FewColumns, LeadASparseFitToTheDenseOne) {
  const auto sparse = rows_of_few_words();
  FeatureTable filled = sparse.samples.features->gather(std::vector<Index>{
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29});
  filled.store_as_dense();
  const WeightedSamples dense{{std::make_shared<const FeatureTable>(std::move(filled)), sparse.samples.labels},
                              sparse.weights};
  const auto classifier = clean::make_linear(100, 2, 1.0, 1);
  Eigen::VectorXf ours = Eigen::VectorXf::Constant(202, 0.5F); // a start that is not zero where no row has anything
  Eigen::VectorXf theirs = Eigen::VectorXf::Zero(202);
  classifier->fit({&sparse, 1}, {.rho = 0.05, .iterations = 200}, ours);
  classifier->fit({&dense, 1}, {.rho = 0.05, .iterations = 200}, theirs);
  EXPECT_GT(theirs.cwiseAbs().maxCoeff(), 0.3F);
  EXPECT_LE((ours.head(100) - theirs.head(100)).cwiseAbs().maxCoeff(), 2e-3F);
}

} // namespace
} // namespace duplex::testing
