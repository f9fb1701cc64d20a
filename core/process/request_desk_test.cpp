// SPDX-License-Identifier: Apache-2.0
#include "core/process/request_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/process/host_fixture.h"

namespace trainyard::core {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::HostedProcess;

/// A fixture with the RequestDesk of a process "office", which hosts a component "clerk" after the test has called
/// open().
class RequestDeskTest : public testing::HostFixture {
 protected:
  void open() {
    add("clerk", "office", "main");
    office_.emplace(host("office"));
    make_desk(office_->get().control);
    office_->get().make();
    desk_->open(office_->get().view, office_->get().host);
  }
  void open_and_run() {
    open();
    office_->get().run();
  }
  void make_desk(EventLoop& control) {
    desk_.emplace("office", control, [this](const Reply& reply) { replies_.push_back(reply); });
  }

  /// Serves a request without waiting for the answer. Returns its number.
  std::uint64_t ask(const std::string& target, const std::string& method, const std::string& body = "{}") {
    desk_->serve({.id = ++asked_, .target = target, .method = method, .body = body});
    return asked_;
  }
  bool replied(std::uint64_t id) const { return std::ranges::count(replies_, id, &Reply::id) > 0; }

  Reply answer(const std::string& target, const std::string& method, const std::string& body = "{}") {
    const std::uint64_t id = ask(target, method, body);
    run_until([&] { return replied(id); });
    return *std::ranges::find(replies_, id, &Reply::id);
  }
  /// Sends a request to the clerk, expects it to succeed, and returns the answer.
  json result(const std::string& method, const std::string& body = "{}") {
    const Reply reply = answer("clerk", method, body);
    EXPECT_TRUE(reply.ok) << reply.body;
    return json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  }
  /// Sends a request to the clerk, expects it to be refused, and returns the error.
  std::string refusal(const std::string& method, const std::string& body = "{}") {
    const Reply reply = answer("clerk", method, body);
    EXPECT_FALSE(reply.ok) << reply.body;
    return reply.body;
  }

  std::optional<std::reference_wrapper<HostedProcess>> office_;
  std::optional<RequestDesk> desk_;
  std::vector<Reply> replies_;
  std::uint64_t asked_ = 0;
};

TEST_F(RequestDeskTest, AnswersBeforeThereIsAPlan) {
  EventLoop control("control");
  make_desk(control);
  ask("", "counters");
  ask("clerk", "param.list");
  ASSERT_EQ(replies_.size(), 2u);
  EXPECT_TRUE(replies_[0].ok);
  const json counters = json::parse(replies_[0].body);
  EXPECT_EQ(counters["edges"], json::array());
  EXPECT_EQ(counters["visitors"], json::array());
  EXPECT_EQ(counters["shared_bytes"], 0);
  EXPECT_TRUE(counters["activity"].is_null());
  EXPECT_FALSE(replies_[1].ok);
  EXPECT_EQ(replies_[1].body, "no component 'clerk' in process 'office'");
}

TEST_F(RequestDeskTest, OfTheProcessItselfItAnswersOnlyForTheCounters) {
  open_and_run();
  for (const char* method : {"param.list", "counter", ""}) {
    const Reply reply = answer("", method);
    EXPECT_FALSE(reply.ok) << method;
    EXPECT_EQ(reply.body, "a process answers only 'counters' and 'pulse'");
  }
}

TEST_F(RequestDeskTest, AccountsForTheTimeOfComponentsAsLongAsItIsAskedTo) {
  open_and_run();
  const auto counters = [&](const std::string& body) { return json::parse(answer("", "counters", body).body); };
  EXPECT_TRUE(counters("{}")["activity"].is_null());
  const json first = counters(R"({"activity_s": 60})");
  ASSERT_EQ(first["activity"].size(), 1u);
  EXPECT_EQ(first["activity"][0]["component"], "clerk");
  result("double", R"({"value": 4})");
  const json second = counters("{}");
  EXPECT_GT(second["activity"][0]["busy_ns"], 0) << "a service is work, too";
  EXPECT_EQ(second["activity"][0]["began_ns"], first["activity"][0]["began_ns"]);
  EXPECT_GT(second["activity"][0]["time_ns"], first["activity"][0]["time_ns"]);
  EXPECT_GT(second["cpu_ns"], 0);
  EXPECT_GT(second["memory_bytes"], 0);
}

TEST_F(RequestDeskTest, StopsToAccountWhenTheTimeIsOver) {
  open_and_run();
  EXPECT_TRUE(answer("", "counters", R"({"activity_s": 0.001})").ok);
  run_until([&] { return json::parse(answer("", "counters").body)["activity"].is_null(); });
  EXPECT_FALSE(office_->get().host.workers().at("main")->loop.activity().on());
}

TEST_F(RequestDeskTest, RefusesToAccountForEver) {
  open_and_run();
  for (const char* body :
       {R"({"activity_s": 61})", R"({"activity_s": 0})", R"({"activity_s": "long"})", "[]", "seven"}) {
    const Reply reply = answer("", "counters", body);
    EXPECT_FALSE(reply.ok) << body;
    EXPECT_EQ(reply.body,
              std::string("counters: ") + body +
                  R"( is not allowed; {} or {"activity_s": SECONDS} with more than 0 and at most 60 seconds)");
  }
  EXPECT_TRUE(json::parse(answer("", "counters").body)["activity"].is_null());
}

TEST_F(RequestDeskTest, ListsParametersInTheOrderOfTheirDeclaration) {
  open_and_run();
  EXPECT_EQ(result("param.list"), json::parse(R"json([
    {"name": "speed", "value": 1.5, "default": 1.5, "kind": "number", "allowed": "a number >= 0 and <= 10 (pages/s)",
     "unit": "pages/s", "settable": true, "required": false, "help": "how fast it works", "minimum": 0, "maximum": 10,
     "minimum_excluded": false, "choices": [], "plugin_kind": ""},
    {"name": "desk", "value": "left", "default": "left", "kind": "string", "allowed": "one of: left, right",
     "unit": "", "settable": false, "required": false, "help": "where it sits", "minimum_excluded": false,
     "choices": ["left", "right"], "plugin_kind": ""}])json"));
  EXPECT_EQ(result("param.list", "not JSON").size(), 2u) << "this request needs no body";
}

TEST_F(RequestDeskTest, SetsAParameterOrSaysWhyNotAndKeepsTheOldValue) {
  open_and_run();
  EXPECT_EQ(result("param.set", R"({"name": "speed", "value": 3})").at("value"), 3);
  EXPECT_EQ(result("param.get", R"({"name": "speed"})").at("value"), 3);
  EXPECT_THAT(refusal("param.set", R"({"name": "speed", "value": 11})"),
              HasSubstr("speed: 11 is not allowed; a number >= 0 and <= 10 (pages/s)"));
  EXPECT_THAT(refusal("param.set", R"({"name": "speed", "value": null})"), HasSubstr("speed: null is not allowed"));
  EXPECT_EQ(refusal("param.set", R"({"name": "desk", "value": "right"})"),
            "component 'clerk': 'desk' cannot be changed while running; give it in the launch file");
  for (const char* method : {"param.set", "param.get"}) {
    EXPECT_EQ(refusal(method, R"({"name": "sped", "value": 1})"),
              "component 'clerk' has no parameter 'sped'; did you mean 'speed'? known: desk, speed");
  }
  EXPECT_EQ(result("param.get", R"({"name": "speed"})").at("value"), 3);
  EXPECT_EQ(result("param.get", R"({"name": "desk"})").at("value"), "left");
}

TEST_F(RequestDeskTest, ABodyThatIsNoQuestionIsShownWithWhatIsAllowed) {
  open_and_run();
  EXPECT_EQ(refusal("param.get", ""), R"(component 'clerk': param.get: "" is not allowed; {"name": ...})");
  EXPECT_EQ(refusal("param.get", "{"), R"(component 'clerk': param.get: "{" is not allowed; {"name": ...})");
  EXPECT_EQ(refusal("param.get", "[]"), R"(component 'clerk': param.get: [] is not allowed; {"name": ...})");
  EXPECT_EQ(refusal("param.get", R"({"name": 3})"),
            R"(component 'clerk': param.get: {"name":3} is not allowed; {"name": ...})");
  EXPECT_EQ(refusal("param.set", R"({"name": "speed"})"),
            R"(component 'clerk': param.set: {"name":"speed"} is not allowed; {"name": ..., "value": ...})");
  EXPECT_EQ(result("param.get", R"({"name": "speed"})").at("value"), 1.5);
}

TEST_F(RequestDeskTest, AStrangersBodyMayBeLongAndDeepAndTheAnswerIsNeither) {
  open_and_run();
  const std::string deep = std::string(120'000, '[') + std::string(120'000, ']');
  const std::string long_one = json{{"title", std::string(200'000, 'x')}}.dump();
  const std::string no_text = "\xff\xfe{";
  for (const std::string& body : {deep, long_one, no_text}) {
    const std::string text = refusal("param.get", body);
    EXPECT_THAT(text, AllOf(HasSubstr("component 'clerk': param.get: "), EndsWith("is not allowed; {\"name\": ...}")));
    EXPECT_LT(text.size(), 200u);
    EXPECT_NO_THROW(json(text).dump()) << "it can be passed on as JSON";
  }
}

TEST_F(RequestDeskTest, AServiceAnswersOrItsErrorGoesToTheCallerAndTheComponentLives) {
  open_and_run();
  EXPECT_EQ(result("double", R"({"name": "n", "value": 4})"), json::parse(R"({"name": "n", "value": 8.0})"));
  EXPECT_EQ(result("double", ""), json::parse(R"({"name": "", "value": 0.0})")) << "an empty body means {}";
  EXPECT_EQ(refusal("double", R"({"value": -4})"), "-4 is below 0");
  EXPECT_THAT(refusal("double", "[]"), ::testing::Not(::testing::IsEmpty()));
  EXPECT_THAT(refusal("duoble"), AllOf(HasSubstr("component 'clerk' has no service 'duoble'; did you mean 'double'?"),
                                       HasSubstr("param.get"), HasSubstr("stutter")));
  EXPECT_EQ(result("double", R"({"value": 1})").at("value"), 2);
  EXPECT_TRUE(office_->get().reports.empty()) << "nobody failed";
}

TEST_F(RequestDeskTest, AServiceMayAnswerLaterAndOthersAreServedMeanwhile) {
  open_and_run();
  const std::uint64_t waiting = ask("clerk", "wait");
  EXPECT_EQ(result("param.get", R"({"name": "speed"})").at("value"), 1.5);
  EXPECT_FALSE(replied(waiting)) << "the requests of one component are served in order, so this one was served";
  EXPECT_EQ(result("go", R"({"value": 6})").at("value"), 6);
  run_until([&] { return replied(waiting); });
  EXPECT_EQ(json::parse(std::ranges::find(replies_, waiting, &Reply::id)->body).at("value"), 6);
}

TEST_F(RequestDeskTest, ThereIsOneReplyEvenIfAServiceAnswersTwiceAndFails) {
  open_and_run();
  EXPECT_EQ(result("stutter", R"({"value": 5})").at("value"), 5);
  EXPECT_EQ(result("double", R"({"value": 1})").at("value"), 2) << "by now further replies would have come";
  EXPECT_EQ(replies_.size(), 2u);
}

/// Carrying out a plan can fail after some components have been made. Their threads are then never started.
TEST_F(RequestDeskTest, AComponentWhoseThreadWasNeverStartedIsRefusedAtOnce) {
  open();
  ask("clerk", "param.list");
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_FALSE(replies_[0].ok);
  EXPECT_EQ(replies_[0].body,
            "component 'clerk' in process 'office' does not run, because the plan of the process could not be carried "
            "out");
  ask("", "counters");
  EXPECT_TRUE(replies_.back().ok);
}

TEST_F(RequestDeskTest, CountersNameTopicAndEndsOfEveryEdgeThatBeginsInTheProcess) {
  add("ticker", "office", "main", R"({"count": 20})");
  add("tally", "office", "main", R"({"finish_after": 20})");
  add("tally", "elsewhere", "main").name = "far_tally";
  connect(0, 1).id = 5;
  connect(0, 2, Transport::kIpc).policy = Policy::kDropOldest;
  HostedProcess& office = host("office");
  make_desk(office.control);
  desk_->open(office.view, office.host);
  office.make();
  office.wiring.make_edges();
  office.run();
  run_until([&] { return !office.reports.empty(); });
  const Reply reply = answer("", "counters");
  ASSERT_TRUE(reply.ok) << reply.body;
  const json edges = json::parse(reply.body).at("edges");
  ASSERT_EQ(edges.size(), 2u);
  const auto expect = [&](const json& edge, const json& expected) {
    for (const auto& [key, value] : expected.items()) EXPECT_EQ(edge.at(key), value) << key << " of " << edge.dump();
  };
  expect(edges[0],
         json{{"topic", "/ticks"}, {"edge", 5}, {"from", "ticker"}, {"to", "tally"}, {"sent", 20}, {"dropped", 0}});
  // This edge has no subscriber, so it keeps the newest 4 messages and drops the others.
  expect(edges[1],
         json{{"topic", "/ticks"}, {"edge", 1}, {"from", "ticker"}, {"to", "far_tally"}, {"sent", 0}, {"dropped", 16}});
}

}  // namespace
}  // namespace trainyard::core
