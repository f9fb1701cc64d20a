// SPDX-License-Identifier: Apache-2.0
#include "collectives/operation_queue.h"

#include <gtest/gtest.h>

#include <array>

namespace trainyard::collectives {
namespace {

class OperationQueueTest : public ::testing::Test {
 protected:
  QueuedOperation& push(OperationKind kind, std::uint32_t member, std::span<float> data) {
    Operation operation;
    operation.request.kind = kind;
    operation.request.member = member;
    operation.data = {data.data(), DType::kFloat32, data.size()};
    return queue_.push(std::move(operation));
  }

  std::array<float, 8> memory_{};
  std::span<float> first_ = std::span(memory_).first(4);
  std::span<float> second_ = std::span(memory_).last(4);
  OperationQueue queue_{3};
};

TEST_F(OperationQueueTest, EachLaneCountsForItself) {
  EXPECT_EQ(push(OperationKind::kAllReduce, 0, first_).operation.order, 1u);
  EXPECT_EQ(push(OperationKind::kSend, 1, first_).operation.order, 1u);
  EXPECT_EQ(push(OperationKind::kSend, 2, first_).operation.order, 1u);
  EXPECT_EQ(push(OperationKind::kRecv, 1, first_).operation.order, 1u);
  EXPECT_EQ(push(OperationKind::kBroadcast, 1, first_).operation.order, 2u);
  EXPECT_EQ(push(OperationKind::kSend, 1, first_).operation.order, 2u);
  EXPECT_EQ(queue_.find(6)->operation.number, 6u);
}

TEST_F(OperationQueueTest, AnOperationWaitsForAnEarlierOneOnItsMemory) {
  const QueuedOperation& send = push(OperationKind::kSend, 1, first_);
  const QueuedOperation& other = push(OperationKind::kAllReduce, 0, second_);
  const QueuedOperation& same = push(OperationKind::kAllReduce, 0, std::span(memory_).subspan(3, 2));
  const QueuedOperation& reader = push(OperationKind::kSend, 2, first_);
  EXPECT_EQ(queue_.obstacle(other.operation), nullptr);
  EXPECT_EQ(queue_.obstacle(same.operation), &send);
  EXPECT_EQ(queue_.obstacle(reader.operation), &same) << "two that only read may go on at once, but not past a writer";
}

TEST_F(OperationQueueTest, WhatHoldsAnOperationUpIsFoundThroughItsLaneAndItsMemory) {
  const QueuedOperation& receive = push(OperationKind::kRecv, 1, first_);
  push(OperationKind::kAllReduce, 0, first_);
  const QueuedOperation& last = push(OperationKind::kAllReduce, 0, second_);
  EXPECT_EQ(&queue_.held_up_by(last), &receive);
}

TEST_F(OperationQueueTest, MessagesWaitForTheirLaneAndOperationsOfTheGroupForTheirAnnouncement) {
  QueuedOperation& reduce = push(OperationKind::kAllReduce, 0, first_);
  const QueuedOperation& next = push(OperationKind::kAllReduce, 0, second_);
  EXPECT_FALSE(queue_.is_next(next));
  reduce.stage = Stage::kAnnounced;
  EXPECT_TRUE(queue_.is_next(next));
  QueuedOperation& message = push(OperationKind::kSend, 1, first_);
  const QueuedOperation& later = push(OperationKind::kSend, 1, second_);
  message.stage = Stage::kAgreed;
  EXPECT_FALSE(queue_.is_next(later));
}

TEST_F(OperationQueueTest, FinishedOperationsAreForgottenFromTheFront) {
  push(OperationKind::kAllReduce, 0, first_);
  QueuedOperation& second = push(OperationKind::kAllReduce, 0, second_);
  second.stage = Stage::kFinished;
  queue_.forget_finished();
  EXPECT_NE(queue_.find(1), nullptr);
  EXPECT_EQ(queue_.find(2), nullptr);
  queue_.find(1)->stage = Stage::kFinished;
  EXPECT_EQ(queue_.first_of_group(), nullptr);
  queue_.forget_finished();
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.find(1), nullptr);
}

}  // namespace
}  // namespace trainyard::collectives
