// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "core/edge/local_edge.h"
#include "core/edge/queue_edge.h"
#include "core/testing/pipe.h"
#include "messages/scalar.h"

namespace trainyard::core {
namespace {

using testing::Pipe;
using testing::Sink;

Scalar number(double value) { return {.name = "n", .value = value}; }

TEST(LocalEdgeTest, DeliversInOrderOnTheSameLoop) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 8, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  for (int i = 0; i < 5; ++i) pipe.source.out.send(number(i));
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values, (std::vector<double>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(edge.drained());
  EXPECT_EQ(edge.counters().sent, 5u);
}

TEST(LocalEdgeTest, ABlockingEdgeKeepsEverythingBeyondItsWindow) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 2, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  for (int i = 0; i < 10; ++i) pipe.source.out.send(number(i));
  EXPECT_FALSE(pipe.source.out.ready());
  EXPECT_TRUE(pipe.source.out.blocked());
  EXPECT_EQ(edge.waiting(), 8u);
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values.size(), 10u);
  EXPECT_TRUE(pipe.source.out.ready());
  EXPECT_FALSE(pipe.source.out.blocked());
  EXPECT_EQ(edge.counters().dropped, 0u);
}

TEST(LocalEdgeTest, LatestKeepsOnlyTheNewestWaitingMessage) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kLatest, 1, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  for (int i = 0; i < 10; ++i) pipe.source.out.send(number(i));
  EXPECT_TRUE(pipe.source.out.ready()) << "a lossy edge never holds its sender back";
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values, (std::vector<double>{0, 9}));
  EXPECT_EQ(edge.counters().dropped, 8u);
}

TEST(LocalEdgeTest, DropOldestKeepsABoundedTail) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kDropOldest, 3, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  for (int i = 0; i < 10; ++i) pipe.source.out.send(number(i));
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values, (std::vector<double>{0, 1, 2, 7, 8, 9}));
  EXPECT_EQ(edge.counters().dropped, 4u);
}

TEST(LocalEdgeTest, ByteCreditsBoundTheBytesUnderWayButAlwaysLetOneMessagePass) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 100, 4);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  pipe.source.out.send(Scalar{.name = std::string(100, 'x')});
  pipe.source.out.send(Scalar{.name = std::string(100, 'y')});
  EXPECT_EQ(edge.counters().sent, 1u);
  EXPECT_EQ(edge.waiting(), 1u);
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values.size(), 2u);
}

TEST(LocalEdgeTest, WhatArrivesBeforeActivationIsHandledAfterIt) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 8, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.source.out.send(number(1));
  pipe.run_until_idle();
  EXPECT_TRUE(pipe.sink.values.empty());
  EXPECT_FALSE(edge.drained());
  pipe.activate();
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values, std::vector<double>{1});
}

TEST(LocalEdgeTest, AComponentWhoseOutputIsBlockedIsGivenNoFurtherInput) {
  Pipe pipe;
  Sink slow(pipe.context("slow"));
  LocalEdge in(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 100, 1 << 20);
  LocalEdge out(pipe.sink.echo, slow.in, pipe.loop, 1, Policy::kBlock, 1, 1 << 20);
  pipe.source.out.add_edge(in);
  pipe.sink.echo.add_edge(out);
  pipe.activate();  // `slow` is not active, so messages to it stay in flight.
  for (int i = 0; i < 10; ++i) pipe.source.out.send(number(i));
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values.size(), 2u) << "one message under way and one kept back; then the sink is held";
  slow.transition(State::kInactive);
  slow.transition(State::kActive);
  pipe.run_until_idle();
  EXPECT_EQ(slow.values.size(), 10u);
}

TEST(LocalEdgeTest, AThrowingHandlerFailsItsComponentAndStillGivesCreditBack) {
  Pipe pipe;
  std::string what;
  pipe.sink.on_error([&](const std::string& error) { what = error; });
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 2, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  pipe.source.out.send(number(Sink::kPoison));
  for (int i = 0; i < 5; ++i) pipe.source.out.send(number(i));
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.state(), State::kError);
  EXPECT_EQ(what, "poisoned by -1");
  EXPECT_TRUE(edge.drained());
  EXPECT_TRUE(pipe.sink.values.empty());
}

TEST(QueueEdgeTest, CarriesEverythingInOrderBetweenTwoThreads) {
  constexpr int kCount = 20'000;
  Pipe pipe;
  EventLoop other("other");
  Sink sink(pipe.context("far", other));
  QueueEdge edge(pipe.source.out, sink.in, pipe.loop, other, 0, Policy::kBlock, 16, 1 << 20);
  pipe.loop.add(edge.credit_source());
  other.add(edge.message_source());
  pipe.source.out.add_edge(edge);
  pipe.activate();
  sink.transition(State::kInactive);
  sink.transition(State::kActive);
  std::jthread thread([&] { other.run(); });

  int next = 0;
  pipe.source.out.on_ready([&] {
    while (next < kCount && pipe.source.out.ready()) pipe.source.out.send(number(next++));
  });
  while (next < kCount && pipe.source.out.ready()) pipe.source.out.send(number(next++));
  pipe.run_until([&] { return next == kCount && edge.drained(); });
  other.stop();
  thread.join();
  ASSERT_EQ(sink.values.size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(sink.values[i], i);
}

TEST(QueueEdgeTest, NeverHasMoreUnderWayThanItsWindow) {
  Pipe pipe;
  EventLoop other("other");
  Sink sink(pipe.context("far", other));
  QueueEdge edge(pipe.source.out, sink.in, pipe.loop, other, 0, Policy::kDropOldest, 4, 1 << 20);
  pipe.source.out.add_edge(edge);
  for (int i = 0; i < 100; ++i) pipe.source.out.send(number(i));  // The receiver's loop does not run.
  EXPECT_EQ(edge.counters().sent, 4u);
  EXPECT_EQ(edge.waiting(), 4u);
  EXPECT_EQ(edge.counters().dropped, 92u);
}

TEST(OutputTest, ALoanIsRecycledOnlyWhenEveryReaderHasLetGo) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 64, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  auto first = pipe.source.out.loan();
  const Scalar* address = first.get();
  first->value = 1;
  pipe.source.out.send(std::move(first));
  EXPECT_NE(pipe.source.out.loan().get(), address) << "still under way";
  pipe.run_until_idle();
  bool recycled = false;
  for (int i = 0; i < 3; ++i) recycled |= pipe.source.out.loan().get() == address;
  EXPECT_TRUE(recycled);
}

TEST(InputTest, APausedInputKeepsItsMessagesAndTheirCreditUntilItResumes) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 3, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  pipe.sink.in.pause();
  for (int i = 0; i < 5; ++i) pipe.source.out.send(number(i));
  pipe.run_until_idle();
  EXPECT_TRUE(pipe.sink.values.empty());
  EXPECT_EQ(edge.counters().sent, 3u);
  pipe.sink.in.resume();
  pipe.run_until_idle();
  EXPECT_EQ(pipe.sink.values, (std::vector<double>{0, 1, 2, 3, 4}));
}

/// An edge for which the test determines how many messages there is room for.
class FarEdge final : public Edge {
 public:
  FarEdge(OutputBase& output, Policy policy) : Edge(output, 0, policy, 2, 1 << 20) {}
  bool drained() const override { return waiting() == 0; }
  bool has_room() const override { return room > 0; }
  void transmit(const Envelope& envelope) override {
    --room;
    carried.push_back(envelope.sequence);
  }

  int room = 0;
  std::vector<std::uint64_t> carried;
};

TEST(GoneReceiverTest, ABlockingEdgeDropsAndCountsInsteadOfHoldingItsSender) {
  Pipe pipe;
  FarEdge edge(pipe.source.out, Policy::kBlock);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  for (int i = 0; i < 3; ++i) pipe.source.out.send(number(i));
  EXPECT_TRUE(pipe.source.out.blocked()) << "nobody has come yet, or nobody says that he is gone";
  edge.receiver_gone();
  EXPECT_FALSE(pipe.source.out.blocked());
  EXPECT_TRUE(pipe.source.out.ready());
  pipe.source.out.send(number(3));
  EXPECT_FALSE(pipe.source.out.blocked());
  EXPECT_EQ(edge.counters().dropped, 4u);
  EXPECT_TRUE(edge.carried.empty());
}

TEST(GoneReceiverTest, ABlockingEdgeLosesNothingAgainOnceSomebodyHasCome) {
  Pipe pipe;
  FarEdge edge(pipe.source.out, Policy::kBlock);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  edge.receiver_gone();
  pipe.source.out.send(number(0));
  edge.room = 1;
  edge.on_room();
  for (int i = 1; i < 4; ++i) pipe.source.out.send(number(i));
  EXPECT_EQ(edge.carried, (std::vector<std::uint64_t>{1}));
  EXPECT_TRUE(pipe.source.out.blocked()) << "the newcomer is slow, and is waited for";
  edge.room = 2;
  edge.on_room();
  EXPECT_EQ(edge.carried, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(edge.counters().dropped, 1u);
}

TEST(GoneReceiverTest, WhatStillWaitsForSomebodyWhoComesAgainAtOnceIsNotLost) {
  Pipe pipe;
  FarEdge edge(pipe.source.out, Policy::kBlock);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  for (int i = 0; i < 3; ++i) pipe.source.out.send(number(i));
  edge.room = 3;  // The restarted receiver has connected before the death of the old one is reported.
  edge.receiver_gone();
  EXPECT_EQ(edge.carried, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(edge.counters().dropped, 0u);
}

}  // namespace
}  // namespace trainyard::core
