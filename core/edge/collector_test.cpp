// SPDX-License-Identifier: Apache-2.0
#include "core/edge/collector.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/edge/queue_edge.h"
#include "core/testing/pipe.h"

namespace trainyard::core {
namespace {

using testing::Pipe;
using testing::Sink;

/// A fixture with an edge that a collector empties. The edge leads from the loop of a Pipe to another loop. The test
/// determines when the loops run.
class CollectorTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kWindow = 8;

  void collect(std::chrono::milliseconds rest, Policy policy = Policy::kDropOldest) {
    collector_.emplace(loop_, rest);
    loop_.add(*collector_);
    edge_.emplace(pipe_.source.out, sink_.in, pipe_.loop, loop_, 0, policy, kWindow, 1 << 20);
    edge_->collect_with(*collector_);
    pipe_.loop.add(edge_->credit_source());
    pipe_.source.out.add_edge(*edge_);
    pipe_.activate();
    sink_.transition(State::kInactive);
    sink_.transition(State::kActive);
  }
  void send(int messages) {
    for (int i = 0; i < messages; ++i) pipe_.source.out.send(Scalar{.value = next_++});
  }
  std::size_t received() const { return sink_.values.size(); }

  Pipe pipe_;
  EventLoop loop_{"receiver"};
  Sink sink_{Pipe::context("sink", loop_)};
  std::optional<Collector> collector_;
  std::optional<QueueEdge> edge_;
  double next_ = 0;
};

TEST_F(CollectorTest, HandlesTheFirstMessageAtOnceAndLetsTheNextOnesWait) {
  collect(std::chrono::hours(1));
  send(1);
  EXPECT_TRUE(loop_.run_once());
  EXPECT_EQ(received(), 1u);
  EXPECT_FALSE(loop_.run_once());
  send(kWindow / 2 - 1);
  EXPECT_FALSE(loop_.run_once()) << "it rests";
  EXPECT_EQ(received(), 1u);
}

TEST_F(CollectorTest, EndsTheRestWhenHalfOfTheWindowIsUsed) {
  collect(std::chrono::hours(1));
  send(1);
  while (loop_.run_once()) {
  }
  send(kWindow / 2);
  EXPECT_TRUE(loop_.run_once());
  EXPECT_EQ(received(), 1 + kWindow / 2);
}

TEST_F(CollectorTest, HandlesWhatHasArrivedWhenTheRestIsOver) {
  collect(std::chrono::milliseconds(1));
  send(1);
  while (loop_.run_once()) {
  }
  send(kWindow / 2 - 1);
  // Nothing wakes the loop, so only the timer of the rest can end this wait.
  while (received() < kWindow / 2) {
    if (!loop_.run_once()) loop_.wait(std::chrono::hours(1));
  }
}

TEST_F(CollectorTest, HandlesAMessageAtOnceAfterARestWithoutMessages) {
  collect(std::chrono::milliseconds(0));
  send(1);
  while (loop_.run_once()) {
  }
  send(1);
  EXPECT_TRUE(loop_.run_once());
  EXPECT_EQ(received(), 2u);
}

TEST_F(CollectorTest, LosesNothingBetweenTwoThreads) {
  collect(std::chrono::milliseconds(1), Policy::kBlock);
  constexpr std::size_t kMessages = 20'000;
  std::jthread receiver([this] { loop_.run(); });
  while (next_ < kMessages) {
    if (pipe_.source.out.ready()) {
      send(1);
    } else if (!pipe_.loop.run_once()) {
      pipe_.loop.wait(std::chrono::milliseconds(1000));
    }
  }
  pipe_.run_until([this] { return edge_->drained(); });
  loop_.stop();
  receiver.join();
  ASSERT_EQ(received(), kMessages);
  for (std::size_t i = 0; i < kMessages; ++i) ASSERT_EQ(sink_.values[i], static_cast<double>(i));
}

}  // namespace
}  // namespace trainyard::core
