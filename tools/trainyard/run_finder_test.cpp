// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/run_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/temporary_folder.h"
#include "launch/testing/expect_error.h"

namespace trainyard::tools {

using namespace trainyard::testing;
namespace {

using ::testing::HasSubstr;

class RunFinderTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string base_ = folder_.path() + "/runs";
};

TEST_F(RunFinderTest, FindsARunByItsOwnNameOrByThatOfItsLaunch) {
  const launch::RunDirectory mnist(base_, "mnist-1"), gpt(base_, "gpt-1");
  mnist.announce("mnist", "mnist.toml", "ipc://mnist");
  gpt.announce("gpt", "gpt.toml", "ipc://gpt");
  EXPECT_EQ(find_run({"mnist"}, base_).registry, "ipc://mnist");
  EXPECT_EQ(find_run({"gpt-1"}, base_).registry, "ipc://gpt");
  EXPECT_THAT(launch::testing::error_of([&] { find_run({"gtp"}, base_); }),
              HasSubstr("no launch named 'gtp' is running; did you mean 'gpt'? known: "));
}

TEST_F(RunFinderTest, SaysWhereItLookedWhenNothingRuns) {
  EXPECT_EQ(launch::testing::error_of([&] { find_run({}, base_); }, folder_.path()),
            "no launch is running (looked in runs)");
}

}  // namespace
}  // namespace trainyard::tools
