// Power iterations against spectra that are known.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/numerics/power_iteration.hpp>

namespace duplex::testing {
namespace {

auto product_with(const Vec &spectrum) {
  return [&spectrum](const Vec &in, Vec &out) { out = spectrum.cwiseProduct(in); };
}

TEST(PowerIterations, OnWhatIsNotFiniteSayThatAndGoOnAfterwards) {
  const Vec spectrum = Vec::LinSpaced(5, 1.0, 3.0);
  PowerIteration<Vec> power(Vec::Zero(5));
  EXPECT_FALSE(std::isfinite(power.largest([](const Vec &, Vec &out) { out.setConstant(std::nan("")); }, 12)));
  EXPECT_NEAR(power.largest(product_with(spectrum), 50), 3.0, 1e-3);
}

TEST(PowerIterations, OnZeroGiveZero) {
  PowerIteration<Vec> power(Vec::Zero(3));
  EXPECT_EQ(power.largest([](const Vec &, Vec &out) { out.setZero(); }, 12), 0.0);
  EXPECT_EQ(power.largest([](const Vec &, Vec &out) { out.setZero(); }, 12), 0.0) << "with no direction left";
}

TEST(PowerIterations, ComeFromBelowToTheLargestEigenvalue) {
  const Vec spectrum = log_spaced_spectrum<double>(40, 1000.0, 0.02);
  const double largest = spectrum.maxCoeff();
  PowerIteration<Vec> power(Vec::Zero(40));
  int products = 0;
  const auto counted = [&](const Vec &in, Vec &out) {
    ++products;
    out = spectrum.cwiseProduct(in);
  };
  const double first = power.largest(counted, 12);
  EXPECT_EQ(products, 12);
  EXPECT_LE(first, largest);
  EXPECT_GE(first, 0.9 * largest);
  const double later = power.largest(counted, 200);
  EXPECT_LE(later, largest * (1.0 + 1e-12));
  EXPECT_NEAR(later, largest, 1e-6 * largest);
}

TEST(PowerIterations, RememberWhereTheyWere) {
  Vec spectrum = Vec::LinSpaced(30, 1.0, 2.0);
  PowerIteration<Vec> power(Vec::Zero(30));
  (void)power.largest(product_with(spectrum), 2000);
  spectrum *= 1.1;
  EXPECT_NEAR(power.largest(product_with(spectrum), 1), 2.2, 1e-6) << "one product is enough";

  const SavedState saved = written(power);
  PowerIteration<Vec> restored(Vec::Zero(30));
  read_back(saved, restored);
  EXPECT_EQ(restored.largest(product_with(spectrum), 3), power.largest(product_with(spectrum), 3));
}

} // namespace
} // namespace duplex::testing
