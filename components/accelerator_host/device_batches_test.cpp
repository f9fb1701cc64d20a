// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/device_batches.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "components/accelerator_host/copying_device.h"
#include "tensors/bridge.h"

namespace trainyard {
namespace {

using testing::CopyingDevice;

class DeviceBatchesTest : public ::testing::Test {
 protected:
  /// Returns a batch of 4 samples, each with 3 numbers and a class. The values depend on `index`, `order` and `epoch`.
  static Batch batch(std::uint64_t index, std::uint64_t order = 1, std::uint64_t epoch = 0) {
    Batch made{.order = order, .split = "train", .epoch = epoch, .index = index, .samples = 4};
    made.tensors = {Tensor::empty(DType::kFloat32, {4, 3}), Tensor::empty(DType::kInt64, {4})};
    const auto inputs = made.tensors[0].as<float>();
    std::iota(inputs.begin(), inputs.end(), 0.1F + static_cast<float>(index + 100 * order + 10'000 * epoch));
    const auto classes = made.tensors[1].as<std::int64_t>();
    std::iota(classes.begin(), classes.end(), static_cast<std::int64_t>(index));
    return made;
  }

  static void expect_values(const ModelBatch& taken, const Batch& expected) {
    ASSERT_EQ(taken.tensors.size(), expected.tensors.size());
    for (std::size_t i = 0; i < expected.tensors.size(); ++i) {
      EXPECT_TRUE(taken.tensors[i].equal(view_of(expected.tensors[i]))) << "tensor " << i;
    }
    EXPECT_EQ(taken.split, expected.split);
  }

  static DeviceBatches on(ClaimedDevice& device, bool own_memory, const std::string& precision = "32-true") {
    return {device, parse_precision(precision), own_memory};
  }

  testing::CopyingAccelerator accelerator_;
  std::unique_ptr<ClaimedDevice> far_ = accelerator_.claim(0);  ///< A device with separate memory.
  /// A device that works directly on the memory of messages.
  std::unique_ptr<ClaimedDevice> near_ = accelerator_.claim(1);
  const int& moved_ = static_cast<CopyingDevice&>(*far_).moved;
};

TEST_F(DeviceBatchesTest, AModelWorksOnTheMemoryOfTheMessageIfTheDeviceCan) {
  DeviceBatches batches = on(*near_, false);
  const Batch message = batch(0);
  batches.prefetch(message);
  EXPECT_EQ(static_cast<CopyingDevice&>(*near_).moved, 0) << "there is nothing to do in advance";
  const ModelBatch taken = batches.take(message);
  expect_values(taken, message);
  EXPECT_EQ(taken.tensors[0].data_ptr(), message.tensors[0].data());
  EXPECT_EQ(taken.tensors[1].data_ptr(), message.tensors[1].data());
}

TEST_F(DeviceBatchesTest, TheMemoryOfTheMessageIsHeldUntilRelease) {
  DeviceBatches batches = on(*near_, false);
  std::weak_ptr<void> memory;
  {
    const Batch message = batch(0);
    memory = message.tensors[0].buffer.owner();
    batches.take(message);
  }
  EXPECT_FALSE(memory.expired());
  batches.release();
  EXPECT_TRUE(memory.expired());
}

TEST_F(DeviceBatchesTest, ABatchThatWasMovedInAdvanceIsNotMovedAgainAndIsGivenOnce) {
  DeviceBatches batches = on(*far_, true);
  std::weak_ptr<void> memory;
  {
    const Batch message = batch(3);
    memory = message.tensors[0].buffer.owner();
    batches.prefetch(message);
  }
  EXPECT_EQ(moved_, 1);
  EXPECT_TRUE(memory.expired()) << "the loader may have its memory back as soon as the copy is made";
  expect_values(batches.take(batch(3)), batch(3));
  EXPECT_EQ(moved_, 1);
  expect_values(batches.take(batch(3)), batch(3));
  EXPECT_EQ(moved_, 2) << "the model may have changed what it was given";
}

TEST_F(DeviceBatchesTest, ABatchOfAnotherOrderEpochOrPlaceIsNotTakenForTheOneInAdvance) {
  DeviceBatches batches = on(*far_, true);
  batches.prefetch(batch(3, 2, 1));
  for (const Batch& other : {batch(4, 2, 1), batch(3, 3, 1), batch(3, 2, 2)}) {
    expect_values(batches.take(other), other);
    batches.release();
  }
  EXPECT_EQ(moved_, 4);
  expect_values(batches.take(batch(3, 2, 1)), batch(3, 2, 1));
  EXPECT_EQ(moved_, 4) << "it was still there";
}

TEST_F(DeviceBatchesTest, OfSeveralBatchesInAdvanceTheNewestCounts) {
  DeviceBatches batches = on(*far_, true);
  batches.prefetch(batch(0));
  batches.prefetch(batch(1));
  expect_values(batches.take(batch(1)), batch(1));
  EXPECT_EQ(moved_, 2);
  expect_values(batches.take(batch(0)), batch(0));
  EXPECT_EQ(moved_, 3);
}

TEST_F(DeviceBatchesTest, ABatchWithoutRowsHasNoTensorsAndIsNeverMoved) {
  DeviceBatches batches = on(*far_, true);
  Batch empty = batch(0);
  empty.samples = 0;
  empty.split = "validate";
  batches.prefetch(empty);
  const ModelBatch taken = batches.take(empty);
  EXPECT_TRUE(taken.tensors.empty());
  EXPECT_EQ(taken.split, "validate");
  EXPECT_EQ(moved_, 0);
}

TEST_F(DeviceBatchesTest, FloatingPointNumbersGetTheTypeOfTheModelAndClassesKeepTheirs) {
  const std::vector<std::pair<const char*, at::ScalarType>> types{
      {"64-true", at::kDouble}, {"bf16-true", at::kBFloat16}, {"16-true", at::kHalf}, {"16-mixed", at::kFloat}};
  for (const auto& [precision, type] : types) {
    for (const bool in_advance : {false, true}) {
      DeviceBatches batches = on(*far_, true, precision);
      const Batch message = batch(1);
      if (in_advance) batches.prefetch(message);
      const ModelBatch taken = batches.take(message);
      ASSERT_EQ(taken.tensors.size(), 2u);
      EXPECT_EQ(taken.tensors[0].scalar_type(), type) << precision;
      EXPECT_TRUE(taken.tensors[0].equal(view_of(message.tensors[0]).to(type))) << precision;
      EXPECT_TRUE(taken.tensors[1].equal(view_of(message.tensors[1]))) << precision;
    }
  }
}

}  // namespace
}  // namespace trainyard
