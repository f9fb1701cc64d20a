// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/order_queue.h"

#include <gtest/gtest.h>

#include "core/component/component.h"
#include "core/testing/rig.h"

namespace trainyard::host {
namespace {

/// A component that offers every batch that it receives to its queue.
class Taker final : public Component {
 public:
  explicit Taker(ComponentContext& context) : Component(context) {}

  Input<Batch> batches{*this, "batches", "as they come", [this](const auto& batch) {
                         ++came;
                         queue.offer({.batch = batch});
                         queue.regulate_batches();
                       }};
  OrderQueue queue{batches};
  int came = 0;
};

struct OrderQueueTest : ::testing::Test {
  void push(std::uint64_t id, OrderKind kind) { queue.push(std::make_shared<Order>(Order{.id = id, .kind = kind})); }
  void send(std::uint64_t order) {
    rig.send("batches", Batch{.order = order});
    rig.run_until_idle();
  }
  static ReceivedBatch batch_of(std::uint64_t order, std::uint64_t trace = 0) {
    return {.batch = std::make_shared<Batch>(Batch{.order = order}), .trace = trace};
  }

  trainyard::testing::Rig rig;
  Taker& taker = rig.add<Taker>("taker");
  OrderQueue& queue = taker.queue;
};

TEST_F(OrderQueueTest, OrdersComeOutInTurn) {
  push(1, OrderKind::kTrain);
  push(2, OrderKind::kEvaluate);
  EXPECT_EQ(queue.pop_stop(), nullptr);
  EXPECT_EQ(queue.pop()->id, 1u);
  EXPECT_EQ(queue.pop()->id, 2u);
  EXPECT_FALSE(queue.has_orders());
}

TEST_F(OrderQueueTest, AStopOvertakesWhatIsBeforeItAndNotWhatIsBehind) {
  push(1, OrderKind::kTrain);
  push(2, OrderKind::kEvaluate);
  push(3, OrderKind::kStop);
  push(4, OrderKind::kTrain);
  EXPECT_EQ(queue.pop_stop()->id, 3u);
  EXPECT_EQ(queue.pop()->id, 4u);
  EXPECT_FALSE(queue.has_orders());
}

TEST_F(OrderQueueTest, OneBatchIsTakenInAheadAndTheNextWaitsOutside) {
  rig.start();
  send(1);
  send(1);
  EXPECT_EQ(taker.came, 1);
  EXPECT_NE(queue.take_batch().batch, nullptr);
  EXPECT_EQ(queue.take_batch().batch, nullptr);
  queue.regulate_batches();
  EXPECT_EQ(taker.came, 2);
}

TEST_F(OrderQueueTest, ABatchKeepsTheTraceOfItsMessage) {
  EXPECT_TRUE(queue.offer(batch_of(1, 42)));
  const ReceivedBatch received = queue.take_batch();
  EXPECT_EQ(received.batch->order, 1u);
  EXPECT_EQ(received.trace, 42u);
  EXPECT_FALSE(queue.has_batch());
}

TEST_F(OrderQueueTest, BatchesOfFinishedOrdersAreDropped) {
  EXPECT_TRUE(queue.offer(batch_of(2)));
  queue.finished(2);
  EXPECT_EQ(queue.take_batch().batch, nullptr) << "it was here already";
  EXPECT_FALSE(queue.offer(batch_of(1)));
  EXPECT_FALSE(queue.offer(batch_of(2)));
  EXPECT_TRUE(queue.offer(batch_of(3)));
}

TEST_F(OrderQueueTest, AClosedQueueDropsEverythingAndHoldsNobodyBack) {
  rig.start();
  push(1, OrderKind::kTrain);
  for (int i = 0; i < 3; ++i) send(1);
  queue.close();
  EXPECT_TRUE(queue.closed());
  EXPECT_FALSE(queue.has_orders());
  EXPECT_EQ(queue.take_batch().batch, nullptr);
  EXPECT_EQ(taker.came, 3) << "those that waited outside came in";
}

}  // namespace
}  // namespace trainyard::host
