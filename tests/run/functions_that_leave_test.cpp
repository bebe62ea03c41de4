// Functions of a problem that leave a step in its middle, as those of another language do where they fail.

#include "quadratic_run.hpp"

#include <atomic>

namespace duplex::testing {
namespace {

using SmallQuadratic = decltype(small_quadratic.generate<double>());

/// When the next product of a step is to be left.
struct Fuse {
  int calls_left = 0;
  std::atomic<bool> has_blown{false};
};

/// The small quadratic problem, whose products may be left.
class Leaving {
public:
  using Vector = Vec;
  Leaving(const SmallQuadratic &problem, Fuse &fuse) : problem_(&problem), fuse_(&fuse) {}

  class Lower : public LowerOf<SmallQuadratic> {
  public:
    Lower(LowerOf<SmallQuadratic> inner, Fuse &fuse) : LowerOf<SmallQuadratic>(std::move(inner)), fuse_(&fuse) {}
    void hess_yy(const Vec &v, Vec &out) {
      if (fuse_->calls_left-- <= 0) {
        fuse_->has_blown = true;
        throw Cancelled{};
      }
      LowerOf<SmallQuadratic>::hess_yy(v, out);
    }

  private:
    Fuse *fuse_;
  };

  [[nodiscard]] Lower lower() const { return {problem_->lower(), *fuse_}; }
  [[nodiscard]] UpperOf<SmallQuadratic> upper() const { return problem_->upper(); }
  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }

private:
  const SmallQuadratic *problem_;
  Fuse *fuse_;
};

TEST(AStepThatAFunctionLeaves, GoesBackToWhereItBeganAndTheRunGoesOnFromThere) {
  const auto problem = small_quadratic.generate<double>();
  Fuse fuse{.calls_left = 7};
  const Leaving leaving(problem, fuse);
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto left = problem.start();
  const auto summary =
      solve(leaving, calm, left,
            {.max_iterations = 20, .interrupt = &fuse.has_blown, .functions_may_leave = true, .saving = &keeping});
  EXPECT_EQ(summary.termination, Termination::interrupted);
  ASSERT_GT(summary.iterations, 0);
  ASSERT_LT(summary.iterations, 20);
  auto before = problem.start();
  fuse.calls_left = 1000;
  (void)solve(leaving, calm, before, {.max_iterations = summary.iterations});
  EXPECT_EQ(left.x, before.x);
  EXPECT_EQ(left.y, before.y);
  EXPECT_EQ(left.v, before.v);
}

} // namespace
} // namespace duplex::testing
