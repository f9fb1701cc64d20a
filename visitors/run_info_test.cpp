// SPDX-License-Identifier: Apache-2.0
#include "visitors/run_info.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/process/start_ticks.h"
#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::visitors::testing {
namespace {

using ::testing::HasSubstr;
using trainyard::testing::error_of;

class RunInfoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(base_);
    std::filesystem::permissions(base_, std::filesystem::perms::owner_all);
  }

  /// Writes the run.json of a run whose launcher is this process, or a process that has died.
  void announce(const std::string& run, const std::string& name, bool alive = true) {
    folder_.write(
        "runs/" + run + "/run.json",
        fmt::format(R"({{"run":"{}","name":"{}","file":"f","registry":"ipc://{}","pid":{},"start_ticks":{}}})", run,
                    name, name, ::getpid(), core::start_ticks(::getpid()) + (alive ? 0 : 1)));
  }

  trainyard::testing::TemporaryFolder folder_;
  std::string base_ = folder_.path() + "/runs";
};

TEST_F(RunInfoTest, FindsARunByItsOwnNameOrByThatOfItsLaunch) {
  announce("mnist-1", "mnist");
  announce("gpt-1", "gpt");
  announce("old-1", "old", false);
  EXPECT_EQ(find_run("mnist", base_).registry, "ipc://mnist");
  EXPECT_EQ(find_run("gpt-1", base_).registry, "ipc://gpt");
  EXPECT_EQ(find_run("gpt-1", base_).directory, base_ + "/gpt-1");
  EXPECT_THAT(error_of([&] { find_run("gtp", base_); }).second,
              HasSubstr("no launch named 'gtp' is running; did you mean 'gpt'? known: "));
  EXPECT_EQ(error_of([&] { find_run("old", base_); }).first, Code::kNotFound);
}

TEST_F(RunInfoTest, SaysWhereItLookedWhenNothingRuns) {
  EXPECT_EQ(error_of([&] { find_run("", base_); }),
            std::pair(Code::kNotFound, fmt::format("no launch is running (looked in {})", base_)));
}

TEST_F(RunInfoTest, SkipsWhatItCannotUnderstand) {
  folder_.write("runs/torn-1/run.json", "{");
  folder_.write("runs/other-1/run.json", R"({"run": 7})");
  EXPECT_TRUE(list_runs(base_).empty());
}

TEST_F(RunInfoTest, RefusesAFolderThatOthersMayWriteTo) {
  std::filesystem::permissions(base_, std::filesystem::perms::all);
  EXPECT_THAT(error_of([&] { list_runs(base_); }).second, HasSubstr("others may write to it (mode 777)"));
}

}  // namespace
}  // namespace trainyard::visitors::testing
