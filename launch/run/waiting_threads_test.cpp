// SPDX-License-Identifier: Apache-2.0
#include "launch/run/waiting_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace trainyard::launch {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

class WaitingThreadsTest : public ::testing::Test {
 protected:
  WaitingThreadsTest() { clear(); }
  ~WaitingThreadsTest() override { clear(); }

  static void clear() {
    for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OPENBLAS_THREAD_TIMEOUT"}) {
      ::unsetenv(name);
    }
  }

  static std::map<std::string, std::string> after(std::map<std::string, std::string> environment = {}) {
    let_waiting_threads_sleep(environment);
    return environment;
  }
};

TEST_F(WaitingThreadsTest, SpinOnlyForAShortTime) {
  EXPECT_THAT(after(), Contains(Pair("GOMP_SPINCOUNT", "1000")));
  EXPECT_THAT(after(), Contains(Pair("OPENBLAS_THREAD_TIMEOUT", "16")));
}

TEST_F(WaitingThreadsTest, WaitAsTheUserWantsThem) {
  EXPECT_THAT(after({{"GOMP_SPINCOUNT", "7"}}), Contains(Pair("GOMP_SPINCOUNT", "7")));
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_THAT(after(), Not(Contains(Key("GOMP_SPINCOUNT"))));
  ::setenv("OPENBLAS_THREAD_TIMEOUT", "20", 1);
  EXPECT_THAT(after(), Not(Contains(Key("OPENBLAS_THREAD_TIMEOUT"))));
}

}  // namespace
}  // namespace trainyard::launch
