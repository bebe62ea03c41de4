// How far a run may go.

#include "support.hpp"

#include <duplex/run/limits.hpp>

#include <atomic>

namespace duplex::testing {
namespace {

using detail::Limits;
using detail::RunMeter;

TEST(Limits, AreTheStepsThatWereAllowed) {
  const Options options{.max_iterations = 3};
  const RunMeter meter(options);
  Limits limits(options);
  EXPECT_EQ(limits.met(2, meter), Termination::not_run);
  EXPECT_EQ(limits.met(3, meter), Termination::max_iterations);
}

TEST(Limits, AreMetWhereARunIsAskedToEndUnlessItsStepsAreUsedUpAnyway) {
  std::atomic<bool> interrupt = false;
  const Options options{.max_iterations = 5, .interrupt = &interrupt};
  const RunMeter meter(options);
  Limits limits(options);
  EXPECT_EQ(limits.met(1, meter), Termination::not_run);
  interrupt = true;
  EXPECT_EQ(limits.met(2, meter), Termination::interrupted);
  EXPECT_EQ(limits.met(5, meter), Termination::max_iterations);
}

TEST(Limits, CountTheSecondsOfTheRunsClock) {
  const Options options{.max_seconds = 50.0};
  RunMeter meter(options);
  meter.clock.start();
  EXPECT_EQ(Limits(options).met(1, meter), Termination::not_run);
  meter.clock.credit(60.0);
  EXPECT_EQ(Limits(options).met(1, meter), Termination::max_seconds);
}

} // namespace
} // namespace duplex::testing
