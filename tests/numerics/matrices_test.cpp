// Matrices that are not what they must be are refused by their entry.

#include "support.hpp"

#include <cmath>

namespace duplex::testing {
namespace {

TEST(DenseMatrixInput, RefusesMatricesThatAreNotSquareOrEmpty) {
  EXPECT_EQ(refusal([] { DenseSpd<double>(Mat::Ones(2, 3)); }),
            "matrix: 2 rows and 3 columns, expected a square matrix");
  EXPECT_EQ(refusal([] { DenseSpd<double>(Mat(0, 0)); }), "matrix: 0 rows and 0 columns, expected a square matrix");
}

TEST(DenseMatrixInput, NamesTheEntryThatIsNotSymmetric) {
  Mat entries = Mat::Identity(3, 3);
  entries(2, 1) = 1e-9;
  EXPECT_EQ(refusal([&] { DenseSpd<double>{entries}; }),
            "matrix: not symmetric: entry (3, 2) is 1e-09, entry (2, 3) is 0");
}

TEST(DenseMatrixInput, AcceptsAsymmetryOfRounding) {
  Mat entries = (Mat(2, 2) << 2.0, 1.0, std::nextafter(1.0, 2.0), 2.0).finished();
  const DenseSpd<double> matrix(entries);
  EXPECT_EQ(matrix.entries()(0, 1), matrix.entries()(1, 0));
}

TEST(DenseMatrixInput, RefusesIndefiniteSingularAndNan) {
  EXPECT_CONTAINS(refusal([] { DenseSpd<double>((Mat(2, 2) << 1, 2, 2, 1).finished()); }), "not positive definite");
  EXPECT_CONTAINS(refusal([] { DenseSpd<double>(Mat::Ones(2, 2)); }), "not positive definite");
  EXPECT_CONTAINS(refusal([] { DenseSpd<double>(Mat::Constant(2, 2, not_a_number)); }), "holds NaN or infinity");
  EXPECT_CONTAINS(refusal([] { (void)DenseSpd<double>::with_spectrum(Vec::Zero(2), 0); }), "diagonal entry 1 is 0");
}

TEST(DiagonalMatrixInput, NamesTheEntryThatIsNotPositive) {
  for (const double bad : {0.0, -1e-9, not_a_number, infinity}) {
    EXPECT_EQ(refusal([&] { DiagonalSpd<double>((Vec(3) << 1.0, bad, 1.0).finished()); }),
              "matrix: diagonal entry 2 is " + number_text(bad) + ", expected a positive finite number");
  }
}

} // namespace
} // namespace duplex::testing
