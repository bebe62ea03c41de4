// Threads of kernels, and processes that are forked off.

#include "kernels/team.hpp"

#include "support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace duplex::testing {
namespace {

/// How many threads have done their part.
int parts_done_by(kernels::Team &team) {
  std::atomic<int> parts = 0;
  team.run([&](int /*thread*/) { ++parts; });
  return parts;
}

TEST(TeamOfAThread, DoesItsWorkInAProcessThatWasForkedOffToo) {
  kernels::Team &before = kernels::team_of(3);
  ASSERT_EQ(parts_done_by(before), before.threads());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60); // a child that waits for threads which are not there
    kernels::Team &team = kernels::team_of(3);
    _exit(&team != &before && parts_done_by(team) == team.threads() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  EXPECT_EQ(&kernels::team_of(3), &before) << "the parent keeps its own";
}

} // namespace
} // namespace duplex::testing
