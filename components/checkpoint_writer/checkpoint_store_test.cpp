// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/checkpoint_store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "checkpoints/checkpoint_reader.h"
#include "components/checkpoint_writer/test_files.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using testing::error_of;

class CheckpointStoreTest : public ::testing::Test {
 protected:
  CheckpointStore make_store(std::size_t best = 1) {
    CheckpointStore store({.directory = directory_.path(), .monitor = "loss", .rule = {.last = 2, .best = best}});
    store.describe("mlp", "adamw", {{"beta1", 0.9}});
    return store;
  }
  CheckpointStore::Written write(CheckpointStore& store, std::uint64_t step, double loss) {
    copy_.take(layout_, testing::snapshot_at(step, loss));
    return store.write(copy_);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  testing::TemporaryDirectory directory_;
  OptimizerState state_ = testing::small_state();
  StateLayout layout_ = make_state_layout(testing::small_arena(), &state_);
  StateCopy copy_;
};

/// While this object exists, writing to a file beyond `bytes` bytes fails, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(CheckpointStoreTest, KeepsTheNewestAndTheBestAndPointsToThem) {
  CheckpointStore store = make_store();
  const double losses[] = {3, 1, 2, 4, 5};
  for (std::uint64_t i = 0; i < 5; ++i) write(store, (i + 1) * 10, losses[i]);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000020", "step-00000040", "step-00000050"}));
  EXPECT_EQ(fs::read_symlink(directory_ / "last"), "step-00000050");
  EXPECT_EQ(fs::read_symlink(directory_ / "best"), "step-00000020");
}

TEST_F(CheckpointStoreTest, BestIsAmongTheCheckpointsThatAreKept) {
  CheckpointStore store = make_store(/*best=*/0);
  const double losses[] = {1, 3, 2};
  for (std::uint64_t i = 0; i < 3; ++i) write(store, (i + 1) * 10, losses[i]);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000020", "step-00000030"}));
  EXPECT_EQ(fs::read_symlink(directory_ / "best"), "step-00000030");
}

TEST_F(CheckpointStoreTest, BestGoesWithTheLastCheckpointThatHasTheMetric) {
  CheckpointStore store = make_store(/*best=*/0);
  write(store, 10, 1);
  for (std::uint64_t step : {20, 30}) write(store, step, std::nan(""));
  EXPECT_EQ(names(), (std::vector<std::string>{"last", "step-00000020", "step-00000030"}));
}

TEST_F(CheckpointStoreTest, BytesAreThoseOnDisk) {
  CheckpointStore store = make_store();
  const auto written = write(store, 10, 1);
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(written.path)) bytes += entry.file_size();
  EXPECT_EQ(written.bytes, bytes);
  EXPECT_TRUE(written.warnings.empty());
}

TEST_F(CheckpointStoreTest, AFailedWriteLeavesTheEarlierCheckpointsAndNothingElse) {
  CheckpointStore store = make_store();
  write(store, 10, 1);
  std::string error;
  {
    const FileSizeLimit limit(200);
    error = error_of([&] { write(store, 20, 1); });
  }
  EXPECT_NE(error.find("/model.safetensors: File too large"), std::string::npos) << error;
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000010"}));
  EXPECT_TRUE(checkpoints::verify_checkpoint(directory_ / "step-00000010").empty());
  write(store, 30, 1);  // Succeeds, because there is room again.
  EXPECT_EQ(fs::read_symlink(directory_ / "last"), "step-00000030");
}

TEST_F(CheckpointStoreTest, ADirectoryThatWasRemovedIsMadeAgain) {
  CheckpointStore store = make_store();
  write(store, 10, 1);
  fs::remove_all(directory_.path());
  const auto written = write(store, 20, 2);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000020"}));
  EXPECT_EQ(fs::read_symlink(directory_ / "best"), "step-00000020");  // Step 10 was better, but has been removed.
  EXPECT_TRUE(written.warnings.empty());
}

TEST_F(CheckpointStoreTest, AFolderInThePlaceOfAPointerDoesNotStopRetention) {
  fs::create_directory(directory_ / "last");
  CheckpointStore store = make_store();
  for (std::uint64_t step : {10, 20, 30, 40, 50}) write(store, step, 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000010", "step-00000040", "step-00000050"}));
}

TEST_F(CheckpointStoreTest, ADirectoryThatIsGoneIsNamed) {
  CheckpointStore store = make_store();
  fs::remove_all(directory_.path());
  testing::write_file(directory_.path(), "");
  const std::string error = error_of([&] { write(store, 20, 1); });
  EXPECT_TRUE(error.starts_with("cannot create the directory " + directory_.path()) &&
              error.ends_with(": Not a directory"))
      << error;
}

TEST_F(CheckpointStoreTest, OtherRunsCheckpointsAreLeftAlone) {
  CheckpointStore first = make_store();
  for (std::uint64_t step : {10, 20}) write(first, step, 5);
  CheckpointStore second = make_store();
  for (std::uint64_t step : {10, 30, 40, 50}) write(second, step, 9);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000010", "step-00000010.2", "step-00000020",
                                               "step-00000040", "step-00000050"}));
}

TEST_F(CheckpointStoreTest, AdoptedCheckpointsFollowTheRuleAndAGivenUpFutureGoesFirst) {
  CheckpointStore first = make_store();
  // This deletes step 10.
  for (std::uint64_t step : {10, 20, 30}) write(first, step, 40.0 - static_cast<double>(step));
  CheckpointStore second = make_store();
  second.adopt(20);  // As if the run resumed at step 20 because the checkpoint of step 30 is broken.
  write(second, 25, 90);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000020", "step-00000025", "step-00000030"}));
  EXPECT_EQ(fs::read_symlink(directory_ / "best"), "step-00000030");  // Its metric is still the best.
  write(second, 35, 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000025", "step-00000035"}));
}

TEST_F(CheckpointStoreTest, ASecondCheckpointOfAStepTakesTheFirstOnesPlace) {
  CheckpointStore store = make_store();
  write(store, 10, 2);
  const auto again = write(store, 10, 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "last", "step-00000010"}));
  EXPECT_EQ(checkpoints::read_checkpoint(again.path).run.metrics[0].value, 1);
}

TEST_F(CheckpointStoreTest, AnObstacleAfterTheCheckpointIsSafeIsAWarning) {
  fs::create_directory(directory_ / "last");
  CheckpointStore store = make_store();
  const auto written = write(store, 10, 2);
  EXPECT_TRUE(checkpoints::verify_checkpoint(written.path).empty());
  ASSERT_EQ(written.warnings.size(), 1u);
  EXPECT_NE(written.warnings[0].find("cannot replace the link"), std::string::npos);
}

}  // namespace
}  // namespace trainyard
