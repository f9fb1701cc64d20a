// SPDX-License-Identifier: Apache-2.0
#include "messages/payload_meter.h"

#include <gtest/gtest.h>

#include "messages/message_type.h"
#include "messages/testing/all_messages.h"

namespace trainyard {
namespace {

using testing::Everything;

TEST(PayloadMeterTest, CountsNothingForSingleNumbers) {
  Everything message;
  message.u64 = 7;
  message.flag = true;
  EXPECT_EQ(payload_bytes(message), 0u);
}

TEST(PayloadMeterTest, CountsStringsListsOfNumbersAndTensors) {
  Everything message;
  message.text = "12345";                                 // 5
  message.numbers = {1, 2, 3};                            // 24
  message.inners = {{"ab", 1}, {"c", 2}};                 // 3
  message.table = {{"key", {1, 2}}, {"", {3}}};           // 3 + 8 + 4
  message.maybe = testing::Inner{"four", 0};              // 4
  message.tensor = Tensor::empty(DType::kInt16, {5, 2});  // 20
  EXPECT_EQ(payload_bytes(message), 5u + 24u + 3u + 15u + 4u + 20u);
}

TEST(PayloadMeterTest, CountsNothingForATensorWithoutBytes) {
  Everything message;
  message.tensor = {DType::kFloat32, {1000}, 0, {}};
  EXPECT_EQ(payload_bytes(message), 0u);
}

TEST(PayloadMeterTest, CountsATensorByItsOwnSizeNotByItsBuffers) {
  Batch batch;
  const Buffer buffer = Buffer::heap(4096);
  batch.tensors = {{DType::kUInt8, {10}, 0, buffer}, {DType::kUInt8, {10}, 64, buffer}};
  EXPECT_EQ(payload_bytes(batch), 20u);
}

TEST(PayloadMeterTest, IsReachedThroughTheErasedType) {
  const LogRecord record{0, LogLevel::kInfo, "logger", "hello"};
  EXPECT_EQ(message_type<LogRecord>().payload_bytes(&record), 11u);
}

}  // namespace
}  // namespace trainyard
