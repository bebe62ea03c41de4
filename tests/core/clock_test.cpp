// The clock of a run, which counts steps and not what is measured between them.

#include "support.hpp"

#include <duplex/core/clock.hpp>

#include <chrono>
#include <thread>

namespace duplex::testing {
namespace {

TEST(AStopwatch, StandsStillWhileOtherWorkIsDoneAndGivesWhatThatReturns) {
  using namespace std::chrono_literals;
  using Seconds = std::chrono::duration<double>;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  Stopwatch clock;
  clock.credit(3.0);
  const auto begin = now();
  clock.start();
  Seconds other_work{};
  const bool ran = clock.pause_for([&] {
    const auto paused = now();
    std::this_thread::sleep_for(50ms);
    other_work = now() - paused;
    return clock.runs();
  });
  EXPECT_FALSE(ran);
  EXPECT_TRUE(clock.runs());
  clock.pause();
  EXPECT_GE(clock.seconds_while_paused(), 3.0);
  EXPECT_LE(clock.seconds_while_paused(), 3.0 + (Seconds(now() - begin) - other_work).count());
}

TEST(AStopwatch, GoesOnWhereOtherWorkThrows) {
  Stopwatch clock;
  clock.start();
  EXPECT_THROW(clock.pause_for([] { throw Cancelled(); }), Cancelled);
  EXPECT_TRUE(clock.runs());
}

} // namespace
} // namespace duplex::testing
