// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/process/start_ticks.h"
#include "core/testing/temporary_folder.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RunDirectoryTest : public ::testing::Test {
 protected:
  /// Makes the directory of a run whose launcher has the pid `pid` and was started at `ticks`.
  void leave_behind(const std::string& run, pid_t pid, std::uint64_t ticks) const {
    folder_.write("runs/" + run + "/run.json",
                  R"({"run":")" + run + R"(","name":"n","file":"f","registry":"ipc://r","pid":)" + std::to_string(pid) +
                      R"(,"start_ticks":)" + std::to_string(ticks) + "}");
    fs::permissions(base_, fs::perms::owner_all);
  }

  TemporaryFolder folder_;
  std::string base_ = folder_.path() + "/runs";
};

TEST_F(RunDirectoryTest, IsPrivateAndGoneWithItsObject) {
  {
    const RunDirectory directory(base_, "r-1");
    struct stat status = {};
    ASSERT_EQ(::stat(directory.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    EXPECT_EQ(directory.endpoint("control"), "ipc://" + base_ + "/r-1/control");
  }
  EXPECT_FALSE(fs::exists(base_ + "/r-1"));
}

TEST_F(RunDirectoryTest, IsFoundByOthersOnceAnnounced) {
  const RunDirectory directory(base_, "mnist-1");
  EXPECT_TRUE(visitors::list_runs(base_).empty());
  directory.announce("mnist", "mnist.toml", "ipc://somewhere");
  const std::vector<visitors::RunInfo> runs = visitors::list_runs(base_);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].run, "mnist-1");
  EXPECT_EQ(runs[0].name, "mnist");
  EXPECT_EQ(runs[0].file, "mnist.toml");
  EXPECT_EQ(runs[0].registry, "ipc://somewhere");
  EXPECT_EQ(runs[0].pid, ::getpid());
  EXPECT_EQ(runs[0].directory, directory.path());
}

TEST_F(RunDirectoryTest, SweepsWhatDeadLaunchersLeftAndNothingElse) {
  leave_behind("reused-1", ::getpid(), core::start_ticks(::getpid()) + 1);
  leave_behind("alive-1", ::getpid(), core::start_ticks(::getpid()));
  folder_.write("runs/torn-zzzzzz/run.json", "{");
  const RunDirectory directory(base_, "new-1");
  EXPECT_FALSE(fs::exists(base_ + "/reused-1"));
  EXPECT_FALSE(fs::exists(base_ + "/torn-zzzzzz"));
  EXPECT_TRUE(fs::exists(base_ + "/alive-1"));
}

TEST_F(RunDirectoryTest, RefusesAFolderThatOthersMayWriteTo) {
  fs::create_directory(base_);
  fs::permissions(base_, fs::perms::all);
  EXPECT_THAT(error_of([&] { RunDirectory(base_, "r-1"); }), HasSubstr("/runs: others may write to it (mode 777)"));
  EXPECT_THAT(error_of([&] { visitors::list_runs(base_); }), HasSubstr("others may write to it"));
}

TEST_F(RunDirectoryTest, RefusesAFolderOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a folder that belongs to somebody else";
  fs::create_directory(base_);
  ASSERT_EQ(::chown(base_.c_str(), 12345, 12345), 0);
  EXPECT_THAT(error_of([&] { RunDirectory(base_, "r-1"); }), HasSubstr("belongs to user 12345, not to user 0"));
}

TEST_F(RunDirectoryTest, RefusesALinkInPlaceOfTheFolder) {
  fs::create_directory(folder_.path() + "/elsewhere");
  fs::create_directory_symlink(folder_.path() + "/elsewhere", base_);
  EXPECT_THAT(error_of([&] { RunDirectory(base_, "r-1"); }), HasSubstr("is not a folder"));
}

TEST_F(RunDirectoryTest, RefusesAPathThatIsTooLongForSockets) {
  EXPECT_THAT(error_of([&] { RunDirectory("/tmp/" + std::string(100, 'x'), "r-1"); }),
              HasSubstr("sockets in it leave room for 91"));
}

TEST(RunNameTest, IsShortUniqueAndSafeInAPath) {
  EXPECT_EQ(run_name("mnist", 36 * 36), "mnist-100");
  EXPECT_EQ(run_name("../a b", 1), "___a_b-1");
  EXPECT_EQ(run_name("", 1), "run-1");
  EXPECT_LE(run_name(std::string(100, 'x'), 4194304).size(), 24u);
}

}  // namespace
}  // namespace trainyard::launch::testing
