// SPDX-License-Identifier: Apache-2.0
#include "launch/run/registry_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <zmq.hpp>

#include "core/testing/freed_memory.h"
#include "launch/run/testing/launched_run.h"

namespace trainyard::launch::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Asks the registry of a run with fake processes, like a client in any language.
class RegistryServerTest : public ::testing::Test {
 protected:
  static LaunchOptions options() {
    LaunchOptions options;
    core::PluginInfo& plugin = options.plugins["fake"];
    plugin.outputs.push_back(
        {.name = "out", .topic = "", .type = "Number", .fingerprint = 0xabc, .schema = "Number {}\n"});
    plugin.inputs.push_back({.name = "in", .topic = "", .type = "Number"});
    plugin.services.push_back({"reset", "Empty {\n}\n", "Number {}\n", "Begins again."});
    core::PluginInfo& twin = options.plugins["twin"] = plugin;
    twin.outputs.front().latched = true;
    twin.traits.of_kind = ComponentTraits{.per_rank = true};
    return options;
  }

  /// Returns a plan in which c0 listens to c1, and c2 publishes without a listener.
  static Plan plan() {
    Plan plan = with_program(fake_plan({"{}", "{}", R"({"hang": "slow"})"}), "viewer", {"sleep", "1000"});
    plan.components[0].topics = {{"in", "/numbers"}, {"out", "/others"}};
    plan.components[1].topics = {{"in", "/nothing"}, {"out", "/numbers"}};
    plan.components[2].topics = {{"in", "/nothing"}, {"out", "/numbers"}};
    plan.components[2].plugin = "twin";
    plan.components[2].rank = 1;
    plan.edges.push_back({.id = 0, .topic = "/numbers", .from = 1, .output = "out", .to = 0, .input = "in"});
    // There are two edges, because the topic has two publishers, but only one subscriber.
    plan.edges.push_back({.id = 1, .topic = "/numbers", .from = 2, .output = "out", .to = 0, .input = "in"});
    return plan;
  }

  void SetUp() override {
    ASSERT_NE(run_.launcher(), 0);
    // The registry answers before the run has started completely, but these tests need the complete run.
    ASSERT_TRUE(run_.reaches("c2", "active")) << run_.output();
    ASSERT_TRUE(run_.reaches("viewer", "running")) << run_.output();
  }

  json ask(json question) {
    question["id"] = 7;
    return ask_text(question.dump());
  }

  json ask_text(const std::string& text) { return json::parse(run_.ask(text), nullptr, false); }

  LaunchedRun run_{plan(), options()};
};

/// A client that can send arbitrary bytes, and reads only when the test wants.
class RawClient {
 public:
  explicit RawClient(const LaunchedRun& run) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::sndhwm, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 20'000);
    socket_.connect(visitors::list_runs(run.base()).front().registry);
  }
  void send(const std::string& question) { socket_.send(zmq::buffer(question), zmq::send_flags::none); }
  json receive() {
    zmq::message_t reply;
    return socket_.recv(reply) ? json::parse(reply.to_string(), nullptr, false) : json();
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::dealer};
};

TEST_F(RegistryServerTest, DescribesTheRunAndItsProcesses) {
  const json reply = ask({{"op", "run"}});
  EXPECT_EQ(reply["id"], 7);
  EXPECT_EQ(reply["ok"], true);
  EXPECT_EQ(reply["result"]["name"], "fake");
  EXPECT_EQ(reply["result"]["file"], "fake.toml");
  EXPECT_EQ(reply["result"]["processes"].size(), 4u);
  EXPECT_EQ(reply["result"]["pid"], run_.launcher());
  EXPECT_EQ(reply["result"]["state"], "running");
  EXPECT_EQ(reply["result"]["reason"], "");
}

TEST_F(RegistryServerTest, DescribesTopicsWithEveryPublisherAndItsGateway) {
  const json topics = ask({{"op", "topics"}})["result"];
  ASSERT_EQ(topics.size(), 5u);  // The topics, sorted by name, are /log, /numbers, /operations, /others and /spans.
  EXPECT_EQ(topics[0]["topic"], "/log");
  EXPECT_EQ(topics[0]["type"], "LogRecord");
  EXPECT_EQ(topics[0]["publishers"].size(), 3u);
  EXPECT_EQ(topics[1], json::parse(R"({
    "topic": "/numbers", "type": "Number", "fingerprint": "0000000000000abc", "schema": "Number {}\n", "latched": true,
    "publishers": [{"component": "c1", "process": "p1", "endpoint": "ipc:///gateway-p1"},
                   {"component": "c2", "process": "p2", "endpoint": "ipc:///gateway-p2"}],
    "subscribers": [{"component": "c0", "process": "p0", "policy": "block"}]})"));
  EXPECT_EQ(topics[3]["subscribers"], json::array());
  EXPECT_EQ(topics[3]["latched"], false);
  EXPECT_EQ(topics[0]["latched"], false);
  for (const std::size_t spans : {2, 4}) {
    EXPECT_EQ(topics[spans]["topic"], spans == 2 ? "/operations" : "/spans");
    EXPECT_EQ(topics[spans]["type"], "Spans");
    EXPECT_EQ(topics[spans]["publishers"].size(), 3u);
  }
}

TEST_F(RegistryServerTest, DescribesComponentsAndPrograms) {
  const json nodes = ask({{"op", "nodes"}})["result"];
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0]["component"], "c0");
  EXPECT_EQ(nodes[0]["plugin"], "fake");
  EXPECT_EQ(nodes[0]["process"], "p0");
  EXPECT_EQ(nodes[0]["inputs"], json::parse(R"([{"port": "in", "topic": "/numbers", "type": "Number"}])"));
  EXPECT_GT(nodes[0]["pid"].get<int>(), 0);
  EXPECT_EQ(nodes[0]["restarts"], 0);
  EXPECT_EQ(nodes[0]["services"], json::parse(R"(["reset"])"));
  EXPECT_EQ(nodes[0]["service_types"], json::parse(R"([{"service": "reset", "request": "Empty {\n}\n",
                                                         "reply": "Number {}\n", "help": "Begins again."}])"));
  EXPECT_EQ(nodes[2]["index"], 2);
  EXPECT_EQ(nodes[2]["rank"], 1);
  EXPECT_TRUE(nodes[0]["rank"].is_null()) << "it exists once";
  EXPECT_FALSE(nodes[3].contains("index"));
  EXPECT_EQ(nodes[3]["component"], "viewer");
  EXPECT_EQ(nodes[3]["command"], json::parse(R"(["sleep", "1000"])"));
}

TEST_F(RegistryServerTest, PassesCallsOnToTheComponent) {
  const json question = {{"op", "call"}, {"target", "c1"}, {"method", "param.set"}, {"body", {{"name", "x"}}}};
  EXPECT_EQ(ask(question)["result"]["you_said"], R"({"name":"x"})");
  EXPECT_EQ(ask({{"op", "params"}, {"target", "c1"}})["ok"], true);
  const json refused = ask({{"op", "call"}, {"target", "c1"}, {"method", "unknown"}});
  EXPECT_EQ(refused["ok"], false);
  EXPECT_EQ(refused["error"], "no such method");
}

TEST_F(RegistryServerTest, CallsOneProcessOrAllOfThem) {
  const json one = ask({{"op", "call"}, {"process", "p2"}, {"method", "counters"}});
  EXPECT_EQ(one["result"]["you_said"], "{}");
  const json all = ask({{"op", "call"}, {"method", "counters"}});
  EXPECT_EQ(all["result"].size(), 3u);
  EXPECT_EQ(all["result"]["p0"]["you_said"], "{}");
}

TEST_F(RegistryServerTest, NamesTheNearestForWhatItDoesNotKnow) {
  EXPECT_THAT(ask({{"op", "topic"}})["error"].get<std::string>(), HasSubstr("no op 'topic'; did you mean 'topics'?"));
  const json component = ask({{"op", "call"}, {"target", "c9"}, {"method", "m"}});
  EXPECT_THAT(component["error"].get<std::string>(), HasSubstr("no component named 'c9'"));
  EXPECT_EQ(component["code"], "not found");
  const json process = ask({{"op", "call"}, {"process", "viewer"}, {"method", "m"}});
  EXPECT_THAT(process["error"].get<std::string>(), HasSubstr("no process named 'viewer'"));
}

TEST_F(RegistryServerTest, OneClientHasABoundedNumberOfOpenCalls) {
  RawClient greedy(run_);
  for (int i = 0; i < 33; ++i) greedy.send(R"({"id": 1, "op": "call", "target": "c2", "method": "slow"})");
  const json refused = greedy.receive();
  EXPECT_EQ(refused["error"], "32 calls of this client are not answered yet, which is the most");
  EXPECT_EQ(refused["code"], "unsupported");
  EXPECT_EQ(ask({{"op", "call"}, {"target", "c1"}, {"method", "quick"}})["ok"], true) << "others can still call";
}

TEST_F(RegistryServerTest, AClientThatDoesNotReadItsAnswersKeepsNobodyWaiting) {
  RawClient lazy(run_);
  for (int i = 0; i < 17'500; ++i) lazy.send(R"({"id": 1, "op": "topics"})");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask({{"op", "run"}})["ok"], true);
  EXPECT_EQ(lazy.receive()["ok"], true) << "it is served as well, as far as it reads";
}

TEST_F(RegistryServerTest, ReturnsMemoryToTheSystemWhenAClientThatDidNotReadHasGone) {
  if (!FreedMemory::kCanReturn) GTEST_SKIP() << "the allocators of sanitizers keep freed memory";
  constexpr std::uint64_t kMuch = 12 << 20;
  const auto taken = [launcher = std::to_string(run_.launcher())] { return resident_bytes(launcher); };
  const std::uint64_t before = taken();
  {
    RawClient lazy(run_);
    for (int i = 0; i < 17'500; ++i) lazy.send(R"({"id": 1, "op": "topics"})");
    ASSERT_TRUE(eventually([&] { return taken() > before + kMuch; })) << taken() << " bytes, before " << before;
  }
  EXPECT_TRUE(eventually([&] { return taken() < before + kMuch / 3; })) << taken() << " bytes, before " << before;
}

TEST_F(RegistryServerTest, ClosesTheConnectionOfAQuestionThatIsTooLong) {
  RawClient talker(run_);
  talker.send(std::string(3 << 20, ' '));
  EXPECT_EQ(ask({{"op", "run"}})["ok"], true);
}

TEST_F(RegistryServerTest, SurvivesNonsense) {
  EXPECT_EQ(ask_text("no json")["ok"], false);
  EXPECT_EQ(ask_text("[1, 2]")["ok"], false);
  EXPECT_EQ(ask_text(R"({"id": 1, "op": 5})")["error"], "\"op\": 5 was given; a string is needed");
  EXPECT_EQ(ask({{"op", "run"}})["ok"], true);
}

TEST_F(RegistryServerTest, SurvivesJsonThatNestsWithoutEnd) {
  const std::string deep = std::string(120'000, '[') + std::string(120'000, ']');
  for (const std::string& text :
       {R"({"id": )" + deep + "}", R"({"id": 1, "op": "call", "target": "c0", "method": "m", "body": )" + deep + "}",
        std::string(240'000, '[')}) {
    EXPECT_EQ(ask_text(text)["error"], "the question is not a JSON object of at most 64 levels");
  }
  EXPECT_EQ(ask({{"op", "run"}})["ok"], true);
}

}  // namespace
}  // namespace trainyard::launch::testing
