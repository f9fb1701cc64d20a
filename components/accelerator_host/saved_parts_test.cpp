// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/saved_parts.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "accelerators/accelerator.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

class Host final : public Accelerator {
 public:
  using Accelerator::Accelerator;
  FoundDevices find_devices() const override { return {.count = 1, .problem = ""}; }
  AcceleratorTraits traits() const override { return {.precisions = {"32-true"}}; }

 protected:
  std::unique_ptr<ClaimedDevice> open(int) const override {
    return std::make_unique<ClaimedDevice>(*this, at::Device(at::kCPU), "host");
  }
};

AcceleratorContext host_context() {
  AcceleratorContext context;
  context.where = "accelerator 'host'";
  context.parameters = "{}";
  return context;
}

/// An object whose state is one number.
class Counter final : public Stateful {
 public:
  void save_state(StateWriter& into) const override { into.set("value", value); }
  void restore_state(const StateReader& from) override { value = from.count("value"); }

  std::uint64_t value = 7;
};

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::ranges::fill(buffer.bytes(), std::byte{0});
  return buffer;
}

struct SavedPartsTest : ::testing::Test {
  SavedPartsTest() {
    random.draw_initial([] {});
  }

  SavedParts parts(std::uint32_t world_size = 1) {
    return {{.number = 0, .world_size = world_size, .strategy = "some"}, random, arena, {{"model/some", &counter}}};
  }
  static std::vector<std::string> owners(const std::vector<SavedState>& states) {
    std::vector<std::string> all;
    for (const SavedState& state : states) all.push_back(state.owner);
    return all;
  }
  std::vector<std::uint8_t> numbers() { return device.rng_state(); }

  AcceleratorContext context = host_context();
  Host accelerator{context};
  ClaimedDevice device{accelerator, at::Device(at::kCPU), "host"};
  RandomNumbers random{device, 1, 0};
  at::Tensor weight = at::ones({3}).set_requires_grad(true);
  at::Tensor mean = at::full({2}, 5.0);
  Arena arena{{{"weight", weight}}, {{"mean", mean}}, &zeroed};
  Counter counter;
};

TEST_F(SavedPartsTest, EveryPartGetsItsOwnStateBack) {
  SavedParts saved = parts();
  const RestoredStates states{.path = "step-3", .step = 3, .ranks = 1, .states = saved.save()};
  EXPECT_THAT(owners(states.states), ElementsAre("random_numbers", "model/some"));
  counter.value = 0;
  EXPECT_THAT(saved.keep(states), ElementsAre("random_numbers", "buffers/some", "model/some"));
  EXPECT_EQ(counter.value, 0u) << "it is only kept";
  saved.restore();
  EXPECT_EQ(counter.value, 7u);
}

TEST_F(SavedPartsTest, StateIsRestoredOnce) {
  SavedParts saved = parts();
  saved.restore();
  EXPECT_EQ(counter.value, 7u) << "there is nothing to restore";
  saved.keep({.path = "step-3", .step = 3, .ranks = 1, .states = saved.save()});
  saved.restore();
  counter.value = 9;
  saved.restore();
  EXPECT_EQ(counter.value, 9u);
}

TEST_F(SavedPartsTest, RandomNumbersGoOnOrBeginAnew) {
  SavedParts saved = parts();
  const RestoredStates states{.path = "step-3", .step = 3, .ranks = 1, .states = saved.save()};
  const auto before = numbers();
  saved.keep({.path = "step-3", .step = 3, .ranks = 1, .states = {}});
  saved.restore();
  EXPECT_NE(numbers(), before);
  saved.keep(states);
  saved.restore();
  EXPECT_EQ(numbers(), before);
}

TEST_F(SavedPartsTest, ARankOfSeveralKeepsItsBuffersWhileTheNumberOfRanksIsTheSame) {
  SavedParts saved = parts(2);
  RestoredStates states{.path = "step-3", .step = 3, .ranks = 2, .states = saved.save()};
  EXPECT_THAT(owners(states.states), ElementsAre("random_numbers", "model/some", "buffers/some"));
  const at::Tensor before = arena.buffers().clone();
  arena.buffers().zero_();
  states.ranks = 3;
  saved.keep(states);
  saved.restore();
  EXPECT_FALSE(arena.buffers().equal(before)) << "another number of ranks has seen other samples";
  states.ranks = 2;
  saved.keep(states);
  saved.restore();
  EXPECT_TRUE(arena.buffers().equal(before));
}

}  // namespace
}  // namespace trainyard
