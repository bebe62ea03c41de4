// The error that conjugate gradients tell of themselves, against the true one.

#include "support.hpp"

#include <duplex/methods/automatic/error_estimate.hpp>

namespace duplex::testing {
namespace {

TEST(ErrorEstimate, IsTheBoundWhileThereIsNothingBetter) {
  automatic::ErrorEstimate estimate;
  EXPECT_EQ(estimate.error(7.0), 7.0);
  estimate.add(1.0, 1.0);
  estimate.add(0.1, 1.0);
  EXPECT_EQ(estimate.error(7.0), 7.0);
}

TEST(ErrorEstimate, FollowsTheTrueErrorOfConjugateGradientsAndRarelyUnderstatesIt) {
  for (const double condition : {10.0, 100.0, 1000.0}) {
    const Vec h = log_spaced_spectrum<double>(200, condition, 1.0);
    const Vec solution = random_vector(200, 5);
    Vec x = Vec::Zero(200);
    Vec r = h.cwiseProduct(solution);
    Vec p = r;
    automatic::ErrorEstimate estimate;
    double understated = 1.0;
    double overstated = 1.0;
    for (int k = 0; k < 60 && r.norm() > 1e-10; ++k) {
      const Vec hp = h.cwiseProduct(p);
      const double a = r.squaredNorm() / p.dot(hp);
      estimate.add(a * r.squaredNorm(), p.squaredNorm() / p.dot(hp));
      x += a * p;
      const double before = r.squaredNorm();
      r -= a * hp;
      p = r + r.squaredNorm() / before * p;
      const double error = (x - solution).norm();
      if (k >= 12 && error > 1e-6 * solution.norm()) {
        understated = std::max(understated, error / estimate.error(infinity));
        overstated = std::max(overstated, estimate.error(infinity) / error);
      }
    }
    EXPECT_LE(understated, 6.0) << condition;
    EXPECT_LE(overstated, 20.0) << condition; // where it falls faster than by the tenth that is believed
  }
}

TEST(ErrorEstimate, StartsAfresh) {
  automatic::ErrorEstimate estimate;
  for (int k = 0; k < 5; ++k) {
    estimate.add(1.0, 1.0);
  }
  EXPECT_LT(estimate.error(1e9), 1e9);
  estimate.restart();
  EXPECT_EQ(estimate.error(1e9), 1e9);
}

} // namespace
} // namespace duplex::testing
