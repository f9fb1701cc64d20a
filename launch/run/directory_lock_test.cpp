// SPDX-License-Identifier: Apache-2.0
#include "launch/run/directory_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "launch/run/testing/launched_run.h"
#include "messages/error.h"

namespace trainyard::launch::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LockHolder holder(const std::string& run) {
  return {.run = run, .host = "box", .pid = 12, .file = "mnist.toml", .since = "today"};
}

class DirectoryLockTest : public ::testing::Test {
 protected:
  std::string directory() const { return folder_.path() + "/runs/mnist"; }

  /// Tries to lock the directory for a run. Returns the text of the error, or an empty text if the lock was obtained.
  std::string refusal(const std::string& run) const {
    try {
      const DirectoryLock lock(directory(), holder(run));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
};

TEST_F(DirectoryLockTest, IsHeldByOneRunAtATimeAndNamesIt) {
  std::optional<DirectoryLock> first;
  first.emplace(directory(), holder("mnist-1"));
  EXPECT_THAT(refusal("mnist-2"), AllOf(HasSubstr("'" + directory() + "' belongs to run 'mnist-1'"),
                                        HasSubstr("(process 12 on host 'box', mnist.toml, since today)"),
                                        HasSubstr("choose another run.directory")));
  first.reset();
  EXPECT_EQ(refusal("mnist-2"), "");
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
}

TEST_F(DirectoryLockTest, AdmitsAllMembersOfOneRun) {
  const DirectoryLock first(directory(), holder("mnist-1"));
  const DirectoryLock second(directory(), holder("mnist-1"));
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(second.held());
  LockHolder elsewhere = holder("mnist-1");
  elsewhere.host = "barn";
  EXPECT_THROW(DirectoryLock(directory(), elsewhere), Error) << "names of runs are unique on one host only";
}

TEST_F(DirectoryLockTest, DoesNotOutliveItsProcess) {
  Pipe ready = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    const DirectoryLock lock(directory(), holder("mnist-1"));
    [[maybe_unused]] const auto written = ::write(ready.writer.get(), "x", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready.reader.get(), &byte, 1), 1);
  EXPECT_THAT(refusal("mnist-2"), HasSubstr("mnist-1"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(refusal("mnist-2"), "");
}

TEST_F(DirectoryLockTest, IsOnTheFileThatThePathNames) {
  std::optional<DirectoryLock> first;
  first.emplace(directory(), holder("mnist-1"));
  // The lock file is removed by hand. The next run then makes a new lock file, which the first run must not remove.
  std::filesystem::remove(DirectoryLock::path_in(directory()));
  const DirectoryLock second(directory(), holder("mnist-2"));
  EXPECT_TRUE(second.held());
}

TEST_F(DirectoryLockTest, RemovesOnlyWhatADeadRunHasLeftBehind) {
  const std::string file = DirectoryLock::path_in(directory());
  remove_stale_lock(file);  // The file does not exist.
  {
    const DirectoryLock lock(directory(), holder("mnist-1"));
    remove_stale_lock(file);
    EXPECT_TRUE(std::filesystem::exists(file));
  }
  std::ofstream(file) << "left behind";
  remove_stale_lock(file);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(DirectoryLockTest, SaysThatAnotherRunHoldsItThatHasNotWrittenItsNameYet) {
  const DirectoryLock lock(directory(), holder("mnist-1"));
  std::filesystem::resize_file(DirectoryLock::path_in(directory()), 0);
  EXPECT_THAT(refusal("mnist-2"), HasSubstr("belongs to another run;"));
}

TEST_F(DirectoryLockTest, NeedsNoLockWhereNothingCanBeWritten) {
  EXPECT_FALSE(DirectoryLock("/proc/self", holder("mnist-1")).held());
  EXPECT_FALSE(DirectoryLock("", holder("mnist-1")).held());
}

}  // namespace
}  // namespace trainyard::launch::testing
