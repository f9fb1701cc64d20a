// SPDX-License-Identifier: Apache-2.0
#include "core/process/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "core/edge/local_edge.h"
#include "core/edge/queue_edge.h"
#include "core/process/gateway.h"
#include "core/process/host_fixture.h"
#include "core/testing/error_of.h"

namespace trainyard::core {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::HostedProcess;

class WiringTest : public testing::HostFixture {
 protected:
  static HostedProcess& wired(HostedProcess& process) {
    process.make();
    process.wiring.make_edges();
    return process;
  }
  static const EdgeCounters& counters(const HostedProcess& process, const std::string& thread) {
    return process.host.workers().at(thread)->outlet->edges().front()->counters();
  }
  static std::size_t connections(const HostedProcess& process, std::uint32_t component, const std::string& input) {
    const auto& inputs = process.host.component(component).inputs();
    return (*std::ranges::find(inputs, input, [](const InputBase* each) { return each->name(); }))->connections();
  }

  /// Plans a ticker in process "a" that sends to a tally in process "b".
  void plan_a_to_b(const std::string& count, const std::string& tally) {
    add("ticker", "a", "ticks", R"({"tensor_bytes": 5000, "count": )" + count + "}");
    add("tally", "b", "tally", tally);
    connect(0, 1, Transport::kIpc);
  }
};

TEST_F(WiringTest, EverythingArrivesOverEdgesWithinAThreadAndBetweenThreads) {
  add("ticker", "a", "main", R"({"count": 100, "tensor_bytes": 5000})");
  add("tally", "a", "main", R"({"finish_after": 100})");
  add("tally", "a", "other", R"({"finish_after": 100})").name = "other";
  connect(0, 1);
  connect(0, 2, Transport::kProcess);
  HostedProcess& a = wired(host("a"));
  const auto& edges = a.host.worker_of(0).edges;
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_NE(dynamic_cast<LocalEdge*>(edges[0].get()), nullptr);
  EXPECT_NE(dynamic_cast<QueueEdge*>(edges[1].get()), nullptr);
  EXPECT_EQ(connections(a, 1, "ticks"), 1u);
  EXPECT_EQ(a.host.component(0).outputs().front()->connections(), 2u);
  a.wiring.connect({});
  EXPECT_EQ(a.connected, 1) << "there is nothing to wait for";
  a.run();
  run_until([&] { return a.reports.size() == 2; });
  EXPECT_THAT(a.reports, ::testing::UnorderedElementsAre("tally finished: counted 100", "other finished: counted 100"));
}

TEST_F(WiringTest, AProcessMakesOnlyItsOwnEndsOfEdges) {
  plan_a_to_b("1", "{}");
  add("ticker", "c", "main");
  add("tally", "d", "main");
  connect(2, 3, Transport::kIpc);
  HostedProcess& a = wired(host("a"));
  EXPECT_EQ(a.host.worker_of(0).outlet->edges().size(), 1u);
  EXPECT_TRUE(a.host.worker_of(0).edges.empty());
  HostedProcess& b = wired(host("b", 2));
  EXPECT_EQ(connections(b, 1, "ticks"), 1u) << "it is counted before it is connected";
  EXPECT_EQ(b.host.worker_of(1).outlet, nullptr) << "nothing leaves this process";
  EXPECT_EQ(b.connected, 0);
}

TEST_F(WiringTest, APortThatThePluginDoesNotHaveIsNamed) {
  add("ticker", "a", "main");
  add("tally", "a", "main");
  connect(0, 1).output = "tocks";
  const auto [code, text] = error_of([&] { wired(host("a")); });
  EXPECT_EQ(code, Code::kNotFound);
  EXPECT_EQ(text, "component 'ticker' has no port 'tocks', which the plan connects; was its plugin replaced?");
  plan_.edges.front().output = "ticks";
  plan_.edges.front().input = "";
  EXPECT_EQ(error_of([&] { wired(host("a")); }).second,
            "component 'tally' has no port '', which the plan connects; was its plugin replaced?");
}

TEST_F(WiringTest, EverythingArrivesInAnotherProcess) {
  plan_a_to_b("100", R"({"finish_after": 100})");
  HostedProcess& a = wired(host("a"));
  HostedProcess& b = wired(host("b", 2));
  a.run();
  b.run();
  b.wiring.connect({.endpoints = {a.endpoint("ticks")}});
  EXPECT_EQ(b.connected, 0) << "the publisher has not answered";
  run_until([&] { return !b.reports.empty(); });
  EXPECT_EQ(b.connected, 1);
  EXPECT_THAT(b.reports, ElementsAre("tally finished: counted 100"));
  // The launcher repeats this message when it has restarted another process.
  b.wiring.connect({.endpoints = {a.endpoint("ticks")}});
  run_until([&] { return b.connected == 2; });
}

TEST_F(WiringTest, IsConnectedOnlyWhenTheLastPublisherHasAnswered) {
  plan_a_to_b("10", R"({"strict": false})");
  add("ticker", "c", "ticks", R"({"count": 10})");
  connect(2, 1, Transport::kIpc);
  HostedProcess& a = wired(host("a"));
  HostedProcess& b = wired(host("b", 2));
  HostedProcess& c = wired(host("c", 3));
  for (HostedProcess* each : {&a, &b, &c}) each->run();
  b.wiring.connect({.endpoints = {a.endpoint("ticks")}});
  // The ticker of "a" has sent more messages than may be in flight, so "b" has handled some of them. Therefore, "b" has
  // received the answer of "a" to its subscription.
  run_until([&] { return counters(a, "ticks").sent == 10; });
  b.control.run_once();
  EXPECT_EQ(b.connected, 0) << "c has no address yet";
  b.wiring.connect({.endpoints = {a.endpoint("ticks"), c.endpoint("ticks")}});
  run_until([&] { return counters(c, "ticks").sent == 10; });
  run_until([&] { return b.connected > 0; });
  EXPECT_EQ(b.connected, 1);
}

TEST_F(WiringTest, ASenderNoLongerWaitsForAReceiverThatDied) {
  plan_a_to_b("20", "{}");
  HostedProcess& a = wired(host("a"));
  a.run();
  a.wiring.peer_gone({.process = "somebody_else", .process_index = 9});
  a.wiring.peer_gone({.process = "b", .process_index = 2});
  run_until([&] { return counters(a, "ticks").dropped == 20; });
  EXPECT_EQ(counters(a, "ticks").sent, 0u);
}

// The launcher's message about the death of a process can arrive after the restarted process has subscribed.
TEST_F(WiringTest, ASenderKeepsAReceiverThatHasAlreadyBeenStartedAgain) {
  for (const Transport transport : {Transport::kIpc, Transport::kTcp}) {
    plan_ = {};
    add("ticker", "a", "ticks", R"({"interval_ms": 1, "count": 100})");
    add("tally", "b", "tally", R"({"finish_after": 100})");
    connect(0, 1, transport);
    HostedProcess& a = wired(host("a"));
    HostedProcess& b = wired(host("b", 2));
    a.run();
    b.run();
    b.wiring.connect({.endpoints = {a.endpoint("ticks")}});
    run_until([&] { return b.connected == 1; });
    a.wiring.peer_gone({.process = "b", .process_index = 2, .pid = ::getpid() + 1});
    run_until([&] { return !b.reports.empty(); });
    EXPECT_THAT(b.reports, ElementsAre("tally finished: counted 100"));
    EXPECT_EQ(counters(a, "ticks").dropped, 0u);
    end(b);
    end(a);
  }
}

// A receiver on another host may have had the same pid as a living process of this host. The test uses the pid of its
// own process.
TEST_F(WiringTest, AReceiverThatDiedIsGivenUpThoughAProcessOfThisHostHasItsPid) {
  for (const Transport transport : {Transport::kIpc, Transport::kTcp}) {
    plan_ = {};
    add("ticker", "a", "ticks", R"({"interval_ms": 1, "count": 1000000})");
    add("tally", "b", "tally", R"({"finish_after": 100})");
    connect(0, 1, transport);
    HostedProcess& a = wired(host("a"));
    HostedProcess& b = wired(host("b", 2));
    a.run();
    b.run();
    b.wiring.connect({.endpoints = {a.endpoint("ticks")}});
    run_until([&] { return b.connected == 1; });
    a.wiring.peer_gone({.process = "b", .process_index = 2, .pid = ::getpid()});
    run_until([&] { return counters(a, "ticks").dropped > 0; });
    end(b);
    end(a);
  }
}

TEST_F(WiringTest, MemoryThatOnlyADeadProcessHeldIsFreeAgainAndOtherMemoryIsNot) {
  plan_a_to_b("1", "{}");
  HostedProcess& a = wired(host("a"));
  SharedPool& pool = a.host.pool();
  constexpr std::size_t kBytes = 1 << 20;
  SharedPool::lend(pool.allocate(kBytes), 2);
  const std::size_t one = pool.reserved_bytes();
  a.wiring.peer_gone({.process = "c", .process_index = 3});
  EXPECT_GT((pool.allocate(kBytes), pool.reserved_bytes()), one) << "process 2 still reads the first";
  const std::size_t two = pool.reserved_bytes();
  a.wiring.peer_gone({.process = "b", .process_index = 2});
  const Buffer first = pool.allocate(kBytes), second = pool.allocate(kBytes);
  EXPECT_EQ(pool.reserved_bytes(), two);
}

TEST_F(WiringTest, ARestartedPublisherIsFoundAtItsNewAddress) {
  plan_a_to_b("10", R"({"strict": false})");
  HostedProcess& first = wired(host("a"));
  HostedProcess& b = wired(host("b", 2));
  first.run();
  b.run();
  b.wiring.connect({.endpoints = {first.endpoint("ticks")}});
  run_until([&] { return counters(first, "ticks").sent == 10 && b.connected == 1; });
  end(first);
  b.wiring.peer_gone({.process = "a", .process_index = 1});
  plan_.bind["ticks"] = "ipc://" + folder_.path("restarted");
  HostedProcess& second = wired(host("a"));
  second.run();
  EXPECT_EQ(second.endpoint("ticks").second, "ipc://" + folder_.path("restarted"));
  b.wiring.connect({.endpoints = {second.endpoint("ticks")}});
  run_until([&] { return counters(second, "ticks").sent == 10 && b.connected == 2; });
}

/// The clerk declares a larger window than a gateway allows, so the subscription must ask for a smaller one.
TEST_F(WiringTest, AnInputForTheLogListensAtEveryGateway) {
  add("clerk", "a", "main").topics = {{"log", "/log"}};
  HostedProcess& a = wired(host("a"));
  EXPECT_EQ(connections(a, 0, "log"), 1u);
  ComponentContext context;
  context.where = "process 'a'";
  context.parameters = "{}";
  context.name = "a";
  context.log = a.host.logs().logger("a");
  context.loop = &a.control;
  context.pool = &a.host.pool();
  Gateway gateway(context, sockets_, a.view.address_of("gateway"),
                  [](const std::string&) { return std::vector<OutputBase*>{}; });
  a.run();
  a.wiring.connect({.endpoints = {{"a/gateway", gateway.endpoint()}, {"a/main", "ipc:///nowhere"}}});
  run_until([&] { return a.connected == 1; });
  gateway.publish({.level = LogLevel::kInfo, .component = "a", .text = "good morning"});
  run_until([&] { return !a.reports.empty(); });
  EXPECT_THAT(a.reports, ElementsAre("clerk finished: good morning"));
}

TEST_F(WiringTest, AnInputForTheLogIsConnectedThoughNoGatewayIsThere) {
  add("clerk", "a", "main").topics = {{"log", "/log"}};
  HostedProcess& a = wired(host("a"));
  a.wiring.connect({});
  EXPECT_EQ(a.connected, 1);
}

}  // namespace
}  // namespace trainyard::core
