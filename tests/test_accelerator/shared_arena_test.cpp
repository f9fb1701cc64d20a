// SPDX-License-Identifier: Apache-2.0
// Tests an arena in the memory of a test device whose optimizer has opened it, as an optimizer in another process does.
// Here both are in one process, but the optimizer has a device of its own, which can only open the memory of the other.
#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/testing/error_of.h"
#include "devices/opened_arena.h"
#include "devices/test_device/test_device.h"
#include "messages/error.h"
#include "tensors/arena.h"
#include "tests/test_accelerator/card.h"

namespace trainyard::test_accelerator {
namespace {

using devices::Coefficients;
using devices::Purpose;
using ::testing::HasSubstr;
using trainyard::testing::error_of;

constexpr int kIndex = 4;

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

class OneDevice final : public devices::Driver {
 public:
  explicit OneDevice(PluginContext& context) : Driver(context) {}
  std::unique_ptr<devices::Device> open(const std::string& uuid) override {
    EXPECT_EQ(uuid, std::to_string(kIndex));
    return std::make_unique<test_device::TestDevice>(test_device::Options{.index = kIndex});
  }
};

std::unique_ptr<devices::OpenedArena> opened(const SharedArena& shared) {
  PluginContext context{.where = "device", .parameters = "{}"};
  return std::make_unique<devices::OpenedArena>(std::make_unique<OneDevice>(context), shared);
}

/// One weight of four values, with momentum.
class SharedArenaTest : public ::testing::Test {
 protected:
  SharedArenaTest() : arena_({{"weight", weight_}}, {}, &zeroed, memory()) {}

  DeviceMemory memory() { return {.device = at::Device(at::kPrivateUse1, kIndex), .copy = {}, .native = &native_}; }

  /// Makes the optimizer's update, and announces its state to the arena.
  void open() {
    optimizer_ = opened(arena_.share());
    update_ = optimizer_->make_update({devices::Formula::kSgdMomentum, {{0, 16}}, {momentum_}});
    state_ = {.rank = 0,
              .rule = "sgd",
              .blocks = {{"momentum", momentum_}},
              .on_device = true,
              .device_blocks = optimizer_->state_handles()};
  }

  void train_one_step() {
    (weight_ * 3).sum().backward();
    arena_.publish_gradients();
    arena_.begin_update();
    update_->run(std::vector<Coefficients<double>>{{.step_size = 0.5, .decay1 = 0.9}});
    arena_.end_update();
    ArenaEdit(arena_).fetch_parameters();
  }

  float weight() const { return weight_[0].item<float>(); }
  std::uint64_t crossed() const { return native_.device->link_bytes().all().both(); }

  std::shared_ptr<Card> card_ = Card::of(kIndex);
  NativeDevice native_{card_->device(), card_->device()->adopt_stream("compute", nullptr)};
  at::Tensor weight_ = at::ones({4}).set_requires_grad(true);
  Arena arena_;
  Tensor momentum_{DType::kFloat32, {16}, 0, zeroed(64)};
  std::unique_ptr<devices::OpenedArena> optimizer_;
  std::unique_ptr<devices::Update> update_;
  OptimizerState state_;
};

TEST_F(SharedArenaTest, AStepOfTwoDevicesCopiesNothing) {
  open();
  arena_.adopt(state_);
  const std::uint64_t before = crossed();
  train_one_step();
  EXPECT_EQ(crossed(), before);
  EXPECT_EQ(weight(), 1 - 0.5F * 3);
  train_one_step();
  EXPECT_EQ(weight(), 1 - 0.5F * 3 - 0.5F * (0.9F * 3 + 3));
  EXPECT_EQ(optimizer_->device(), "test_device 4");
}

TEST_F(SharedArenaTest, ASnapshotHasTheStateOfTheOtherDeviceAndARestoredOneReachesIt) {
  open();
  arena_.adopt(state_);
  train_one_step();
  arena_.publish_for_snapshot();
  ASSERT_NE(arena_.snapshot_copies(), nullptr);
  arena_.snapshot_copies()->check();
  EXPECT_EQ(momentum_.as<float>()[3], 3);
  EXPECT_EQ(native_.device->link_bytes().of(Purpose::kSnapshot).to_host, 128u);
  momentum_.as<float>()[0] = 10;
  reinterpret_cast<float*>(arena_.parameter_memory().data())[0] = 5;
  ArenaEdit(arena_).fetch_all();
  train_one_step();
  EXPECT_EQ(weight(), 5 - 0.5F * (0.9F * 10 + 3));
}

TEST_F(SharedArenaTest, TheUpdateWaitsForTheGradients) {
  open();
  arena_.adopt(state_);
  (weight_ * 3).sum().backward();
  update_->run(std::vector<Coefficients<double>>{{.step_size = 0.5, .decay1 = 0.9}});
  EXPECT_EQ(weight(), 1) << "the gradients have not been handed over";
  arena_.begin_update();
  arena_.end_update();
  EXPECT_EQ(weight(), 1 - 0.5F * 3);
}

TEST_F(SharedArenaTest, OnlyWhatIsSharedAndFitsIsAdopted) {
  EXPECT_THAT(error_of([&] { arena_.adopt(state_); }).second,
              HasSubstr("works on a device that was not shared with it"));
  open();
  OptimizerState without = state_;
  without.device_blocks.clear();
  EXPECT_THAT(error_of([&] { arena_.adopt(without); }).second,
              HasSubstr("the optimizer of rank 0 has 0 blocks of state on the device and 1 in host memory"));
  OptimizerState small = state_;
  small.device_blocks[0].bytes = 60;
  EXPECT_THAT(error_of([&] { arena_.adopt(small); }).second,
              HasSubstr("the block 'momentum' of optimizer state has 60 bytes on the device and 64 in host memory"));
}

TEST_F(SharedArenaTest, AnArenaWhoseBlocksDifferIsNotOpened) {
  SharedArena shared = arena_.share();
  shared.gradients.bytes = 32;
  EXPECT_THAT(error_of([&] { opened(shared); }).second,
              HasSubstr("has 64 bytes of parameters and 32 bytes of gradients of the type float32; both must have the "
                        "same number of whole elements"));
}

TEST_F(SharedArenaTest, AnnouncesItsMemoryOnlyWhenItIsShared) {
  EXPECT_FALSE(arena_.info(0, "cpu", "").shared.has_value());
  arena_.share();
  ASSERT_TRUE(arena_.info(0, "cpu", "").shared.has_value());
  EXPECT_EQ(arena_.info(0, "cpu", "").shared->parameters.bytes, 64u);
}

/// A rank of many can have no parameters at all.
TEST_F(SharedArenaTest, ARankWithoutParametersHasAnArenaToOpen) {
  const at::Tensor other = at::ones({4}).set_requires_grad(true);
  Arena empty({{"weight", other}}, {}, &zeroed, memory(), {.begin = 64, .end = 64});
  const auto arena = opened(empty.share());
  const Tensor none{DType::kFloat32, {0}, 0, Buffer::heap(0)};
  const auto update = arena->make_update({devices::Formula::kSgdMomentum, {{0, 0}}, {none}});
  empty.adopt({.rank = 0, .blocks = {{"momentum", none}}, .on_device = true, .device_blocks = arena->state_handles()});
  empty.begin_update();
  update->run(std::vector<Coefficients<double>>{{.step_size = 0.5}});
  empty.end_update();
  EXPECT_EQ(other[0].item<float>(), 1);
}

}  // namespace
}  // namespace trainyard::test_accelerator
