// Problems of the catalog on samples from files are those that are made by hand, and so are their batches.

#include "file_samples.hpp"
#include "tool.hpp"

#include <duplex/problems/hyper_cleaning.hpp>
#include <duplex/problems/logistic.hpp>
#include <duplex/problems/softmax.hpp>

#include <span>

namespace duplex::testing {
namespace {

using test::ScratchFolder;

/// Values and all derivatives of both levels.
template <class P, class Q> void expect_same_levels(const P &found, const Q &expected) {
  ASSERT_EQ(found.x_size(), expected.x_size());
  ASSERT_EQ(found.y_size(), expected.y_size());
  const Vec x = random_vector(expected.x_size(), 1);
  const Vec y = random_vector(expected.y_size(), 2);
  const Vec v = random_vector(expected.y_size(), 3);
  const auto compare = [&](auto one, auto other) {
    one.at(x, y);
    other.at(x, y);
    EXPECT_EQ(one.value(), other.value());
    const auto same = [&](const Vec &like, const auto &call) {
      Vec a = zeros_like(like);
      Vec b = a;
      call(one, a);
      call(other, b);
      EXPECT_TRUE(same_bits(a, b));
    };
    same(y, [&](auto &level, Vec &out) { level.grad_y(out); });
    same(y, [&](auto &level, Vec &out) { level.hess_yy(v, out); });
    same(x, [&](auto &level, Vec &out) { level.cross_xy(v, out); });
  };
  compare(found.lower(), expected.lower());
  compare(found.upper(), expected.upper());
}

LabelledSamples by_hand(const std::vector<std::vector<float>> &rows, const std::vector<std::uint32_t> &labels) {
  FeatureTable table(Storage::float32, static_cast<Index>(rows.front().size()));
  for (const auto &row : rows) {
    table.append(std::span<const float>(row));
  }
  return {std::make_shared<const FeatureTable>(std::move(table)),
          std::make_shared<const std::vector<std::uint32_t>>(labels)};
}

TEST(ProblemsFromFiles, AreThoseThatAreMadeByHand) {
  const ScratchFolder folder;
  const std::map<std::string, std::string> files{{"data", folder.file("t.csv", training_csv)},
                                                 {"label", "kind"},
                                                 {"validation", folder.file("v.csv", validation_csv)},
                                                 {"standardize", "false"}};
  const auto with = [&](std::map<std::string, std::string> more) {
    more.insert(files.begin(), files.end());
    return more;
  };
  const LabelledParts parts{.training = by_hand(training_rows, training_labels),
                            .validation = by_hand(validation_rows, validation_labels),
                            .classes = 2};
  for (const std::string penalties : {"one", "feature"}) {
    const auto by = penalties == "one" ? Penalties::one : Penalties::by_feature;
    expect_same_levels(problem_with("logistic", with({{"penalties", penalties}, {"bias", "false"}}))->make(),
                       LogisticSettings{.penalties = by, .bias = false}.generate<double>(parts));
    expect_same_levels(problem_with("softmax", with({{"penalties", penalties}}))->make(),
                       SoftmaxSettings{.penalties = by}.generate<double>(parts));
  }
  expect_same_levels(problem_with("hyper-cleaning", with({{"rho", "0.3"}}))->make(),
                     HyperCleaningSettings{.rho = 0.3}.generate<double>(parts));
}

TEST(ProblemsFromFiles, SayWhichFilesTheyRead) {
  const ScratchFolder folder;
  const std::string images = folder.file("train-images-idx3-ubyte", "");
  const std::string labels = folder.file("train-labels-idx1-ubyte", "");
  EXPECT_EQ(problem_with("softmax", {})->input_files(), std::vector<std::string>());
  EXPECT_EQ(problem_with("softmax", {{"data", images}, {"validation", "v.npy"}, {"validation-labels", "w.npy"}})
                ->input_files(),
            (std::vector<std::string>{images, labels, "v.npy", "w.npy"}));
}

TEST(ProblemsInBatches, RefuseProblemsThatAreNoSumsAndBatchesThatAreTooLarge) {
  EXPECT_CONTAINS(refusal([] { (void)catalog::make_problem("ridge")->make_in_batches(4); }),
                  "--batch: the problem ridge is no sum over samples");
  EXPECT_CONTAINS(refusal([] { (void)catalog::make_problem("logistic")->make_in_batches(61); }),
                  "batches of 61 samples, expected from 1 to the 60 of the lower level");
}

TEST(ProblemsInBatches, AreTheWholeProblemWithinTheSameBounds) {
  for (const std::string name : {"logistic", "softmax", "hyper-cleaning"}) {
    const auto problem = problem_with(name, {{"x-lower", "-1"}, {"x-upper", "0.5"}});
    const auto in_batches = problem->make_in_batches(16);
    expect_same_levels(in_batches.whole(), problem->make());
    const auto box = box_of(in_batches.begin(0).in_hand);
    Vec x = Vec::Constant(in_batches.whole().x_size(), 3.0);
    box.project(x);
    EXPECT_EQ(x, Vec::Constant(x.size(), 0.5)) << name;
  }
}

} // namespace
} // namespace duplex::testing
