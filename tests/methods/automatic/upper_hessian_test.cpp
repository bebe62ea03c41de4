// ∇²φ by differences of d, against a matrix that is known.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/upper_hessian.hpp>

namespace duplex::testing {
namespace {

using automatic::Estimate;
using automatic::UpperHessian;

/// d = Bx with B of any units.
struct Slope {
  Mat b;
  Estimate<Vec> here;

  explicit Slope(const Vec &units) {
    const Index n = units.size();
    Mat half(n, n);
    for (Index j = 0; j < n; ++j) {
      half.col(j) = random_vector(n, static_cast<std::uint64_t>(j));
    }
    b = units.asDiagonal() * (half * half.transpose() + Mat::Identity(n, n)) * units.asDiagonal();
    here.at.x = random_vector(n, 50).cwiseQuotient(units);
    here.d = b * here.at.x;
  }
  [[nodiscard]] auto beside() const {
    return [this](Index j, double &h, Vec &out) {
      out = here.d + h * b.col(j);
      return true;
    };
  }
};

TEST(AnUpperHessian, IsNotThereWhereADirectionCannotBeHad) {
  const Slope slope(Vec::Ones(4));
  UpperHessian<Vec> hessian(slope.here.at.x);
  hessian.assemble(slope.here, Vec::Ones(4), [](Index j, double & /*h*/, Vec & /*out*/) { return j < 2; });
  EXPECT_FALSE(hessian.is_ready());
}

TEST(AnUpperHessian, IsDueAfterAsManyStepsAsXHasEntriesWhereTheyAreAffordable) {
  UpperHessian<Vec> hessian(Vec::Zero(3));
  for (int k = 0; k < 9; ++k) {
    hessian.count_step(false);
  }
  EXPECT_FALSE(hessian.is_due());
  for (int k = 0; k < 3; ++k) {
    EXPECT_FALSE(hessian.is_due());
    hessian.count_step(true);
  }
  EXPECT_TRUE(hessian.is_due());
  EXPECT_FALSE(UpperHessian<Vec>(Vec::Zero(501)).is_due());
}

TEST(AnUpperHessian, GivesNewtonsStepInAnyUnits) {
  for (const double spread : {1.0, 1e4}) {
    const Slope slope(log_spaced_spectrum<double>(12, spread * spread, 1.0 / spread));
    UpperHessian<Vec> hessian(slope.here.at.x);
    hessian.assemble(slope.here, Vec::Constant(12, 1e-3), slope.beside());
    ASSERT_TRUE(hessian.is_ready());
    Vec step = slope.here.d;
    hessian.apply(step);
    EXPECT_LE((step - slope.here.at.x).cwiseAbs().cwiseQuotient(slope.here.at.x.cwiseAbs()).maxCoeff(), 1e-4) << spread;
  }
}

TEST(AnUpperHessian, KeepsEntriesThatItDoesNotFeel) {
  Slope slope(Vec::Ones(3));
  slope.b = (Vec(3) << 1.0, 1e-12, 1.0).finished().asDiagonal();
  slope.here.d = (Vec(3) << 1.0, 1e-9, 1e-9).finished();
  UpperHessian<Vec> hessian(slope.here.at.x);
  hessian.assemble(slope.here, Vec::Ones(3), slope.beside());
  ASSERT_TRUE(hessian.is_ready());
  Vec move = (Vec(3) << -1.0, -1e3, -1.0).finished(); // the third has a curvature, if hardly a slope
  hessian.keep_unfelt(slope.here.d, move);
  EXPECT_EQ(move[0], -1.0);
  EXPECT_EQ(move[1], 0.0);
  EXPECT_EQ(move[2], -1.0);
}

TEST(AnUpperHessian, ThatIsRestoredGivesTheSameBits) {
  const Slope slope(Vec::LinSpaced(5, 1.0, 9.0));
  UpperHessian<Vec> hessian(slope.here.at.x);
  hessian.assemble(slope.here, Vec::Ones(5), slope.beside());
  UpperHessian<Vec> other(slope.here.at.x);
  read_back(written(hessian), other);
  ASSERT_TRUE(other.is_ready());
  Vec step = slope.here.d;
  Vec same = step;
  hessian.apply(step);
  other.apply(same);
  EXPECT_TRUE(same_bits(step, same));
  UpperHessian<Vec> larger(Vec::Zero(6));
  EXPECT_CONTAINS(refusal([&] { read_back(written(hessian), larger); }), "another number of variables");
}

} // namespace
} // namespace duplex::testing
