// SPDX-License-Identifier: Apache-2.0
#include "core/loop/wakeup.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "messages/error.h"

namespace trainyard::core {
namespace {

/// Sleeps on the wakeup for at most `limit_ms`. Returns true if it was woken.
bool sleep_on(Wakeup& wakeup, int limit_ms) {
  pollfd item{wakeup.fd(), POLLIN, 0};
  return ::poll(&item, 1, limit_ms) == 1;
}

constexpr int kDeadlineMs = 20000;

TEST(WakeupTest, NobodyIsSignalledWhoIsAwake) {
  Wakeup wakeup;
  wakeup.notify();
  EXPECT_FALSE(sleep_on(wakeup, 0));
}

TEST(WakeupTest, ANotificationAfterPrepareWakesOnce) {
  Wakeup wakeup;
  wakeup.prepare();
  wakeup.notify();
  wakeup.notify();
  EXPECT_TRUE(sleep_on(wakeup, kDeadlineMs));
  wakeup.done();
  EXPECT_FALSE(sleep_on(wakeup, 0));
}

TEST(WakeupTest, AnotherProcessWakesThisOne) {
  Wakeup wakeup;
  wakeup.prepare();
  const WakeupHandle handle = wakeup.handle();
  const pid_t child = ::fork();
  if (child == 0) {
    PeerWakeup(handle).notify();
    ::_exit(0);
  }
  EXPECT_TRUE(sleep_on(wakeup, kDeadlineMs));
  ::waitpid(child, nullptr, 0);
}

TEST(WakeupTest, WakingAProcessThatIsGoneDoesNotKill) {
  auto wakeup = std::make_unique<Wakeup>();
  wakeup->prepare();
  PeerWakeup peer(wakeup->handle());
  const WakeupHandle handle = wakeup->handle();
  wakeup.reset();
  peer.notify();  // If the pipe had no reader, this would raise SIGPIPE and end the test.
  EXPECT_THROW(PeerWakeup{handle}, Error);
}

}  // namespace
}  // namespace trainyard::core
