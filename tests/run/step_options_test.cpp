// Steps by their roles, without the names of any method.

#include "support.hpp"

#include <duplex/run/step_options.hpp>

namespace duplex::testing {
namespace {

TEST(StepOptions, AreThoseOptionsThatHaveARole) {
  auto steps = StepOptions::of(Bagdc{.alpha = 0.1, .beta = 0.2, .eta = 0.3, .dual = DualStep::constant});
  EXPECT_EQ(steps.name(Role::upper_step), "alpha");
  EXPECT_EQ(steps.name(Role::lower_step), "beta");
  EXPECT_EQ(steps.all().size(), 3U);
  EXPECT_EQ(steps.multiplier(), Role::multiplier_step);
  EXPECT_TRUE(StepOptions::of(Automatic{}).empty());
}

TEST(StepOptions, BoundTheMultiplierByWhatTheMethodHas) {
  EXPECT_EQ(StepOptions::of(Bagdc{.alpha = 0.1, .beta = 0.2}).multiplier(), Role::multiplier_cap); // a line search
  EXPECT_EQ(StepOptions::of(Neumann{.series_step = 0.1}).multiplier(), Role::series_step);
  EXPECT_EQ(StepOptions::of(Neumann{}).multiplier(), Role::lower_step);
  EXPECT_EQ(StepOptions::of(Rhg{}).multiplier(), Role::lower_step);
}

TEST(StepOptions, AreCalledAsThePaperDoesWhereAMethodHasNone) {
  EXPECT_EQ(StepOptions::of(Automatic{}).name(Role::lower_step), "beta");
  EXPECT_EQ(StepOptions::of(Rhg{}).name(Role::multiplier_step), "eta");
}

TEST(StepOptions, GoBackIntoTheMethodTheyAreOf) {
  Bagdc method{.alpha = 0.1, .beta = 0.2};
  auto steps = StepOptions::of(method);
  for (auto &option : steps.all()) {
    option.value *= 0.5;
  }
  steps.apply_to(method);
  EXPECT_EQ(method.alpha, 0.05);
  EXPECT_EQ(method.beta, 0.1);
  EXPECT_EQ(method.mu_decay, Bagdc{}.mu_decay);
}

} // namespace
} // namespace duplex::testing
