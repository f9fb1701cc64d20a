// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/background_writer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "checkpoints/checkpoint_reader.h"
#include "components/checkpoint_writer/test_files.h"

namespace trainyard {
namespace {

class BackgroundWriterTest : public ::testing::Test {
 protected:
  std::unique_ptr<StateCopy> copy_of(std::uint64_t step) {
    auto copy = std::make_unique<StateCopy>();
    copy->take(layout_, testing::snapshot_at(step));
    return copy;
  }

  testing::TemporaryDirectory directory_;
  OptimizerState state_ = testing::small_state();
  StateLayout layout_ = make_state_layout(testing::small_arena(), &state_);
  CheckpointStore store_{{.directory = directory_.path(), .monitor = "loss", .rule = {.last = 0}}};
};

TEST_F(BackgroundWriterTest, WritesInTheOrderOfSubmissionAndNotifiesForEach) {
  std::atomic<int> notified = 0;
  BackgroundWriter writer(store_, [&] { ++notified; });
  for (std::uint64_t step : {1, 2, 3}) writer.submit(copy_of(step));
  writer.wait_until_idle();
  EXPECT_EQ(notified, 3);
  const auto finished = writer.take_finished();
  ASSERT_EQ(finished.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(finished[i].state->snapshot().step, i + 1);
    EXPECT_EQ(finished[i].error, "");
  }
  EXPECT_TRUE(writer.take_finished().empty());
}

TEST_F(BackgroundWriterTest, TheEndWaitsForWhatWasSubmitted) {
  {
    BackgroundWriter writer(store_, [] {});
    for (std::uint64_t step : {1, 2}) writer.submit(copy_of(step));
  }
  EXPECT_EQ(checkpoints::list_checkpoints(directory_.path()).size(), 2u);
}

TEST_F(BackgroundWriterTest, AFailureComesBackAsTextAndTheNextIsWritten) {
  BackgroundWriter writer(store_, [] {});
  std::filesystem::rename(directory_.path(), directory_.path() + ".moved");
  // A file with the name of the folder prevents the writer from making the folder again.
  testing::write_file(directory_.path(), "");
  writer.submit(copy_of(1));
  writer.wait_until_idle();
  std::filesystem::remove(directory_.path());
  std::filesystem::rename(directory_.path() + ".moved", directory_.path());
  writer.submit(copy_of(2));
  writer.wait_until_idle();
  const auto finished = writer.take_finished();
  ASSERT_EQ(finished.size(), 2u);
  EXPECT_NE(finished[0].error.find(": Not a directory"), std::string::npos) << finished[0].error;
  EXPECT_EQ(finished[1].error, "");
  EXPECT_GT(finished[1].written.bytes, 0u);
}

TEST_F(BackgroundWriterTest, IdleFromTheStartNeedsNoWaiting) {
  BackgroundWriter writer(store_, [] {});
  writer.wait_until_idle();
  EXPECT_TRUE(writer.take_finished().empty());
}

}  // namespace
}  // namespace trainyard
