// SPDX-License-Identifier: Apache-2.0
#include "core/loop/quiet_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

namespace trainyard::core {
namespace {

bool is_blocked(int signal) {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, signal) == 1;
}

TEST(QuietThreadTest, BlocksSignalsAndLowersItsPriorityAloneIfItWantsTo) {
  ASSERT_FALSE(is_blocked(SIGTERM));
  const int before = ::getpriority(PRIO_PROCESS, 0);
  bool blocked = false;
  int priority = 0;
  quiet_thread("quiet", [&] {
    blocked = is_blocked(SIGTERM);
    lower_priority();
    priority = ::getpriority(PRIO_PROCESS, 0);
  }).join();
  EXPECT_TRUE(blocked);
  EXPECT_GT(priority, before);
  EXPECT_FALSE(is_blocked(SIGTERM)) << "in the thread that has started the other one";
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), before);
}

}  // namespace
}  // namespace trainyard::core
