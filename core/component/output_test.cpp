// SPDX-License-Identifier: Apache-2.0
#include "core/component/output.h"

#include <gtest/gtest.h>

#include "core/edge/local_edge.h"
#include "core/testing/pipe.h"

namespace trainyard::core {
namespace {

using testing::Pipe;

/// Sends messages as long as the output is ready, as a component that produces data does. Returns the number of
/// messages.
int send_while_ready(Pipe& pipe) {
  constexpr int kEndless = 1'000'000;
  int sent = 0;
  for (; sent < kEndless && pipe.source.out.ready(); ++sent) pipe.source.out.send(Scalar{});
  EXPECT_LT(sent, kEndless) << "the loop would never have its turn";
  return sent;
}

TEST(OutputTest, AComponentThatNobodyLimitsPausesAndGoesOn) {
  Pipe pipe;
  pipe.activate();
  int rounds = 0;
  pipe.source.out.on_ready([&] {
    ++rounds;
    send_while_ready(pipe);
  });
  EXPECT_GE(send_while_ready(pipe), 64);
  pipe.run_until([&] { return rounds == 3; });
}

TEST(OutputTest, AReceiverWhoseMessagesMayBeDroppedLimitsNothing) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kDropOldest, 8, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  EXPECT_GE(send_while_ready(pipe), 64);
}

TEST(OutputTest, AReceiverThatDiedLimitsNothing) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 8, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  EXPECT_EQ(send_while_ready(pipe), 8);
  edge.receiver_gone();
  EXPECT_GE(send_while_ready(pipe), 64);
}

TEST(OutputTest, AReceiverThatKeepsUpIsNeverWaitedFor) {
  Pipe pipe;
  LocalEdge edge(pipe.source.out, pipe.sink.in, pipe.loop, 0, Policy::kBlock, 1000, 1 << 20);
  pipe.source.out.add_edge(edge);
  pipe.activate();
  EXPECT_EQ(send_while_ready(pipe), 1000);
}

}  // namespace
}  // namespace trainyard::core
