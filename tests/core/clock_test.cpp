// The clock of a run, which counts steps and not what is measured between them.

#include "support.hpp"

#include <duplex/core/clock.hpp>

namespace duplex::testing {
namespace {

TEST(AStopwatch, RefusesATimeThatNoRunMayHaveTaken) {
  Stopwatch clock;
  for (const double wrong : {-1.0, 1e10, infinity, not_a_number}) {
    EXPECT_CONTAINS(refusal([&] { clock.credit(wrong); }), "the time of the saved state");
  }
}

TEST(AStopwatch, StandsStillWhileOtherWorkIsDoneAndGivesWhatThatReturns) {
  Stopwatch clock;
  clock.credit(3.0);
  clock.start();
  double before = 0.0;
  const bool ran = clock.pause_for([&] {
    before = clock.seconds_while_paused();
    return clock.runs();
  });
  EXPECT_FALSE(ran);
  EXPECT_TRUE(clock.runs());
  EXPECT_GE(before, 3.0);
}

TEST(AStopwatch, GoesOnWhereOtherWorkThrows) {
  Stopwatch clock;
  clock.start();
  EXPECT_THROW(clock.pause_for([] { throw Cancelled(); }), Cancelled);
  EXPECT_TRUE(clock.runs());
}

} // namespace
} // namespace duplex::testing
