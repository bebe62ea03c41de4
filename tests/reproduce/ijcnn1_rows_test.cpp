// ijcnn1 from a file: what is refused, how it is cut, and the exact loss and slope of penalties on it.

#include "reproduce/benchmark_tasks.hpp"
#include "reproduce/ijcnn1_rows.hpp"
#include "support.hpp"
#include "tool.hpp"

#include <string>

namespace duplex::testing {
namespace {

using reproduce::ExactPenalties;

/// As LIBSVM text: of three features the first tells the two labels apart, but for one row in five.
std::string rows_like_ijcnn1(Index rows) {
  std::string text;
  for (Index i = 0; i < rows; ++i) {
    const bool is_positive = (i * 7) % 10 < 4;
    const bool is_seen = i % 5 != 0;
    text += (is_positive ? "+1" : "-1") + std::string(" 1:") + (is_positive == is_seen ? "1" : "-1") +
            " 2:" + std::to_string((i * 13) % 8) + "e-1 3:0.5\n";
  }
  return text;
}

TEST(Ijcnn1, IsRefusedWhereTheFileIsMissingOrAnotherOne) {
  const test::ScratchFolder folder;
  const auto refused = [&](const std::string &file) {
    reproduce::Settings settings;
    settings.ijcnn1 = file;
    return refusal([&] { (void)reproduce::read_ijcnn1(settings, "benchmark"); });
  };
  EXPECT_CONTAINS(refused(""), "reproduce benchmark: --ijcnn1 is missing, expected the file of ijcnn1's training rows");
  EXPECT_CONTAINS(refused(folder.file("small.svm", rows_like_ijcnn1(40))),
                  "40 rows, expected more than the 35000 that are trained on");
  EXPECT_CONTAINS(refused(folder.file("three.svm", "1 1:1\n2 1:2\n3 1:3\n")), "3 classes, expected two");
}

TEST(Ijcnn1, IsATaskOfTheBenchmarkWhereItsFileIsGiven) {
  const test::ScratchFolder folder;
  reproduce::Settings settings;
  settings.only = "ijcnn1";
  EXPECT_CONTAINS(refusal([&] { (void)reproduce::benchmark_tasks(settings); }), "--ijcnn1 is missing");
  settings.only = "mushrooms";
  EXPECT_CONTAINS(refusal([&] { (void)reproduce::benchmark_tasks(settings); }), "with --ijcnn1 FILE, ijcnn1");
  settings.only = "ijcnn1";
  settings.ijcnn1 = folder.file("rows.svm", rows_like_ijcnn1(35'400));
  const auto tasks = reproduce::benchmark_tasks(settings);
  ASSERT_EQ(tasks.size(), 1U);
  const auto draw = tasks.front().draw(3);
  EXPECT_EQ(draw.lower_samples, 35'000.0);
  EXPECT_EQ(draw.upper_samples, 400.0);
  ASSERT_EQ(draw.start.x.size(), 3);
  ASSERT_EQ(draw.start.y.size(), 3);
  EXPECT_LE(draw.start.x.maxCoeff(), 0.0F) << "log U(0, 1)";
  EXPECT_GE(draw.start.x.minCoeff(), -12.0F);
  const auto box = box_of(draw.problem.whole());
  EXPECT_EQ(box.outside_text(Eigen::VectorXf::Constant(3, 12.0F)), "");
  EXPECT_NE(box.outside_text(Eigen::VectorXf::Constant(3, 12.5F)), "");
  ExactSolver<catalog::FloatProblem> exact(draw.problem.whole());
  for (const float shift : {0.0F, -3.0F, 2.0F}) { // the metric is of x alone, at y*(x)
    auto state = draw.start;
    state.x.array() += shift;
    const double by_engine = exact.at(state.x, state.y).value;
    EXPECT_NEAR(draw.metric(state), by_engine, 1e-5);
    state.y.setConstant(7.0F);
    EXPECT_NEAR(draw.metric(state), by_engine, 1e-5);
  }
  EXPECT_NE(tasks.front().draw(4).start.y, draw.start.y) << "another start for another seed";
}

zoo::SignedRows few_rows(Index count, unsigned seed) {
  const Vec numbers = random_vector(3 * count, seed);
  zoo::SignedRows rows{Eigen::Map<const Mat>(numbers.data(), 3, count), Vec(count)};
  const Vec noise = random_vector(count, seed + 1);
  for (Index i = 0; i < count; ++i) {
    rows.signs[i] = rows.samples(0, i) + noise[i] > 0.0 ? 1.0 : -1.0;
  }
  return rows;
}

TEST(ExactPenaltiesOfLogisticRegression, AreThoseOfTheEnginesExactSolver) {
  const zoo::PenalizedLogistic problem(few_rows(60, 1), few_rows(40, 3), 12.0);
  ExactPenalties exact(problem);
  ExactSolver<zoo::PenalizedLogistic> by_engine(problem);
  for (const double at : {-2.0, 11.0, -11.0, 0.0}) { // from one end to the other, with the minimizer of before
    const Vec x = Vec::Constant(3, at) + 0.5 * random_vector(3, 9);
    const auto found = exact.at(x);
    const auto &expected = by_engine.at(x, Vec::Zero(3));
    EXPECT_NEAR(found.loss, expected.value, 1e-12) << at;
    EXPECT_NEAR(found.slope, expected.hypergradient.norm(), 1e-10) << at;
  }
}

TEST(ExactPenaltiesOfLogisticRegression, LeaveOutWhatBoundsHoldBack) {
  const zoo::PenalizedLogistic problem(few_rows(60, 1), few_rows(40, 3), 2.0);
  ExactPenalties exact(problem);
  ExactSolver<zoo::PenalizedLogistic> by_engine(problem);
  double held_back = 0.0;
  for (const double side : {2.0, -2.0}) { // a step along −∇φ leads inward from the one where its entry has that sign
    const Vec corner = Vec::Constant(3, side);
    const Vec slope = by_engine.at(corner, Vec::Zero(3)).hypergradient;
    double free = 0.0;
    for (const double entry : slope) {
      free += entry * side > 0.0 ? entry * entry : 0.0;
    }
    EXPECT_NEAR(exact.at(corner).slope, std::sqrt(free), 1e-10) << side;
    held_back += slope.norm() - std::sqrt(free);
  }
  EXPECT_GT(held_back, 1e-4);
}

} // namespace
} // namespace duplex::testing
