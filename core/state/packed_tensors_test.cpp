// SPDX-License-Identifier: Apache-2.0
#include "core/state/packed_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/state/state.h"
#include "core/testing/error_of.h"
#include "messages/limits.h"
#include "messages/message_type.h"

namespace trainyard {
namespace {

constexpr std::size_t kMany = 200;

/// Returns the state of two owners with `count` tensors, each in a buffer of its own. Tensor i has i elements of the
/// value i.
std::vector<SavedState> states_of(std::size_t count) {
  std::vector<SavedState> states{{.owner = "even", .values = "", .tensors = {}},
                                 {.owner = "odd", .values = "", .tensors = {}}};
  for (std::size_t i = 0; i < count; ++i) {
    Tensor tensor = Tensor::empty(DType::kUInt8, {static_cast<std::int64_t>(i)});
    std::ranges::fill(tensor.as<std::uint8_t>(), static_cast<std::uint8_t>(i));
    states[i % 2].tensors.push_back({std::to_string(i), std::move(tensor)});
  }
  return states;
}

/// Sends the states to another process, as far as the message is concerned.
std::vector<SavedState> sent(std::vector<SavedState> states, std::size_t& payloads) {
  std::string body;
  std::vector<Buffer> buffers;
  encode(StateAnswer{.component = "a", .states = std::move(states)}, body, buffers);
  payloads = buffers.size();
  StateAnswer received;
  decode(received, std::as_bytes(std::span(body)), buffers);
  return received.states;
}

TEST(PackedTensorsTest, ManyTensorsFitIntoOneMessageAndKeepTheirValues) {
  std::vector<SavedState> states = states_of(kMany);
  std::size_t payloads = 0;
  EXPECT_EQ(testing::error_of([&] { sent(states, payloads); }).second,
            "a message refers to more than 64 distinct buffers");
  fit_into_message(states);
  const RestoredStates restored{.path = "step-7", .states = sent(std::move(states), payloads)};
  EXPECT_EQ(payloads, 1u);
  for (std::size_t i = 0; i < kMany; ++i) {
    const StateReader reader(restored, i % 2 == 0 ? "even" : "odd", 0);
    const Tensor& tensor = reader.tensor(std::to_string(i), DType::kUInt8, {static_cast<std::int64_t>(i)});
    EXPECT_EQ(tensor.offset % 64, 0u) << i;
    if (i == 0) continue;
    EXPECT_TRUE(std::ranges::all_of(tensor.as<std::uint8_t>(), [i](std::uint8_t value) { return value == i; })) << i;
  }
}

TEST(PackedTensorsTest, TensorsThatFitAsTheyAreAreNotCopied) {
  // The first tensor has no bytes, and thus no payload.
  std::vector<SavedState> states = states_of(kMaxPayloads + 1);
  const std::byte* before = states[1].tensors[0].data.data();
  fit_into_message(states);
  EXPECT_EQ(states[1].tensors[0].data.data(), before);
  std::size_t payloads = 0;
  sent(std::move(states), payloads);
  EXPECT_EQ(payloads, kMaxPayloads);
}

TEST(PackedTensorsTest, ThereAreNeverMoreBuffersThanAMessageMayHave) {
  // A tensor of 60 bytes takes 64, so no two of them fit into a buffer of the usual size.
  constexpr std::size_t kUsual = 100;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kMaxPayloads / 2, kMaxPayloads, 3 * kMaxPayloads}) {
    std::vector<Tensor> tensors(count, Tensor{.dtype = DType::kUInt8, .shape = {60}, .buffer = {}});
    if (count > kMaxPayloads) tensors[1].shape = {10'000};
    allocate_together(tensors, kUsual);
    std::vector<Buffer> buffers;
    for (const Tensor& tensor : tensors) {
      ASSERT_LE(tensor.offset + tensor.bytes(), tensor.buffer.size());
      if (buffers.empty() || !buffers.back().same_as(tensor.buffer)) buffers.push_back(tensor.buffer);
    }
    EXPECT_LT(buffers.size(), kMaxPayloads) << count;
    if (count <= kMaxPayloads / 2) {
      EXPECT_EQ(buffers.size(), count) << "buffers of the usual size suffice";
    }
  }
}

}  // namespace
}  // namespace trainyard
