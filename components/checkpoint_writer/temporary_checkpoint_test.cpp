// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/temporary_checkpoint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "components/checkpoint_writer/test_files.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryDirectory;

TEST(TemporaryCheckpointTest, IsRemovedUnlessPublished) {
  TemporaryDirectory directory;
  {
    TemporaryCheckpoint temporary(directory.path(), "step-00000001");
    testing::write_file(temporary.path() + "/f", "x");
  }
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(TemporaryCheckpointTest, PublishingNeverTouchesAStrangersCheckpoint) {
  TemporaryDirectory directory;
  fs::create_directory(directory / "step-00000001");
  testing::write_file(directory / "step-00000001/f", "theirs");
  TemporaryCheckpoint temporary(directory.path(), "step-00000001");
  testing::write_file(temporary.path() + "/f", "ours");
  EXPECT_EQ(temporary.publish(false), directory / "step-00000001.2");
  EXPECT_EQ(testing::read_file(directory / "step-00000001/f"), "theirs");
  EXPECT_EQ(testing::read_file(directory / "step-00000001.2/f"), "ours");
}

TEST(TemporaryCheckpointTest, AReplacedCheckpointIsGoneAfterwards) {
  TemporaryDirectory directory;
  fs::create_directory(directory / "step-00000001");
  {
    TemporaryCheckpoint temporary(directory.path(), "step-00000001");
    testing::write_file(temporary.path() + "/f", "new");
    EXPECT_EQ(temporary.publish(true), directory / "step-00000001");
  }
  EXPECT_EQ(testing::read_file(directory / "step-00000001/f"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(TemporaryCheckpointTest, SweepingSparesWhatIsBeingWritten) {
  TemporaryDirectory directory;
  TemporaryCheckpoint busy(directory.path(), "step-00000001");
  fs::create_directory(directory / ".tmp-step-00000002-1-0");
  fs::create_directory(directory / "step-00000003");
  EXPECT_EQ(sweep_temporaries(directory.path()), 1);
  EXPECT_TRUE(fs::exists(busy.path()));
  EXPECT_TRUE(fs::exists(directory / "step-00000003"));
  EXPECT_FALSE(fs::exists(directory / ".tmp-step-00000002-1-0"));
}

TEST(TemporaryCheckpointTest, SweepingTakesWhatAKilledProcessLeft) {
  TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    TemporaryCheckpoint temporary(directory.path(), "step-00000001");
    ::_exit(0);  // Ends without destructors, as after SIGKILL.
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(fs::is_empty(directory.path()));
  EXPECT_EQ(sweep_temporaries(directory.path()), 1);
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(RemoveCheckpointTest, WhoeverIsKilledHalfWayLeavesNoNamedCheckpointWithoutItsFiles) {
  TemporaryDirectory directory;
  // With many files, the deletion takes long enough that the process can be killed in the middle of it.
  const std::string checkpoint = directory / "step-00000001";
  fs::create_directory(checkpoint);
  testing::write_file(checkpoint + "/manifest.json", "{}");
  for (int i = 0; i < 5000; ++i) testing::write_file(checkpoint + "/part" + std::to_string(i), "x");
  const pid_t child = ::fork();
  if (child == 0) {
    remove_checkpoint(checkpoint);
    ::_exit(0);
  }
  // Returns true until the deletion has begun, that is, until a file or the directory itself is gone.
  const auto untouched = [&] {
    std::error_code gone;
    const fs::directory_iterator entries(checkpoint, gone);
    return !gone && std::distance(entries, {}) == 5001;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (untouched() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(fs::exists(checkpoint));
  sweep_temporaries(directory.path());
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(RemoveCheckpointTest, RemovingWhatIsGoneIsNoError) {
  TemporaryDirectory directory;
  remove_checkpoint(directory / "step-00000001");
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(PointerTest, IsReplaced) {
  TemporaryDirectory directory;
  set_pointer(directory.path(), "last", "step-00000001");
  set_pointer(directory.path(), "last", "step-00000002");
  EXPECT_EQ(fs::read_symlink(directory / "last"), "step-00000002");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(PointerTest, ADirectoryOfThatNameIsNotReplaced) {
  TemporaryDirectory directory;
  fs::create_directory(directory / "last");
  EXPECT_EQ(testing::error_of([&] { set_pointer(directory.path(), "last", "step-00000001"); }),
            "cannot replace the link " + (directory / "last") + ": Is a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

}  // namespace
}  // namespace trainyard
