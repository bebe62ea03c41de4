// The largest curvature of the lower level, as often as it is measured.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/tracked_curvature.hpp>

namespace duplex::testing {
namespace {

using automatic::TrackedCurvature;

/// f = ½c(x)‖y‖² with c = x, whose products are counted.
struct Stretched {
  using Vector = Vec;
  int *products;
  struct Lower : Point<Vec> {
    explicit Lower(int *counter) : products(counter) {}
    [[nodiscard]] double value() const { return 0.5 * x()[0] * y().squaredNorm(); }
    void grad_y(Vec &out) const { out = x()[0] * y(); }
    void hess_yy(const Vec &v, Vec &out) const {
      ++*products;
      out = x()[0] * v;
    }
    void cross_xy(const Vec &v, Vec &out) const { out = Vec::Constant(1, y().dot(v)); }
    int *products;
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * y().squaredNorm(); }
    void grad_x(Vec &out) const { out = Vec::Zero(1); }
    void grad_y(Vec &out) const { out = y(); }
  };
  [[nodiscard]] Lower lower() const { return Lower(products); }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 3; }
};

State<Vec> stretched_by(double curvature) { return {Vec::Constant(1, curvature), Vec::Ones(3), Vec::Zero(3)}; }

TEST(ATrackedCurvature, IsNotFiniteWhereTheProductsAreNot) {
  int products = 0;
  const Stretched problem{&products};
  TrackedCurvature<Stretched> curvature(problem, Vec::Zero(3));
  EXPECT_EQ(curvature.largest(), 0.0);
  curvature.update(stretched_by(infinity), 0);
  EXPECT_FALSE(std::isfinite(curvature.largest()));
}

TEST(ATrackedCurvature, IsMeasuredAtFirstAndWhereTheGradientGrewAFewTimes) {
  int products = 0;
  const Stretched problem{&products};
  TrackedCurvature<Stretched> curvature(problem, Vec::Zero(3));
  curvature.update(stretched_by(2.0), 0);
  EXPECT_DOUBLE_EQ(curvature.largest(), 2.0);
  EXPECT_EQ(products, products_for_curvature);
  curvature.update(stretched_by(5.0), 0);
  EXPECT_DOUBLE_EQ(curvature.largest(), 2.0) << "nothing says that it has changed";
  curvature.update(stretched_by(5.0), 1);
  EXPECT_DOUBLE_EQ(curvature.largest(), 5.0);
  curvature.update(stretched_by(1.0), 2);
  EXPECT_DOUBLE_EQ(curvature.largest(), 5.0) << "the largest counts";

  TrackedCurvature<Stretched> restored(problem, Vec::Zero(3));
  read_back(written(curvature), restored);
  for (auto *each : {&curvature, &restored}) {
    products = 0;
    for (std::int64_t growths = 0; growths < 20; ++growths) {
      each->update(stretched_by(1.0), growths);
    }
    EXPECT_EQ(products, (automatic::rule::most_remeasurements - 2) * products_for_curvature) << "two are done";
    EXPECT_DOUBLE_EQ(each->largest(), 5.0);
  }
}

} // namespace
} // namespace duplex::testing
