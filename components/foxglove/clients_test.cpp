// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/clients.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/testing/error_of.h"

namespace trainyard::foxglove {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A connection that keeps what is sent to it, and can behave as if its queue were full.
class FakeChannel final : public web::Channel {
 public:
  explicit FakeChannel(web::Role role = web::Role::kControl) : role_(role) {}
  web::Role role() const override { return role_; }
  void answer(std::string text, bool binary) override { keep(text, binary); }
  bool push(std::shared_ptr<const std::string> text, bool binary) override {
    if (full) return false;
    keep(*text, binary);
    return true;
  }
  std::uint64_t missed() const override { return 0; }
  void close() override { closed = true; }

  /// Returns the operations of the text messages since the last call.
  std::vector<std::string> take_operations() {
    std::vector<std::string> operations;
    for (const std::string& text : std::exchange(texts, {})) operations.push_back(json::parse(text)["op"]);
    return operations;
  }
  /// Returns the payloads of the topic messages since the last call.
  std::vector<std::string> take_messages() {
    std::vector<std::string> payloads;
    for (const std::string& bytes : std::exchange(binaries, {})) {
      if (bytes.at(0) == 1) payloads.push_back(bytes.substr(13));
    }
    return payloads;
  }

  std::vector<std::string> texts, binaries;
  bool full = false, closed = false;

 private:
  void keep(const std::string& text, bool binary) { (binary ? binaries : texts).push_back(text); }

  web::Role role_;
};

Offer offer_of(std::vector<std::string> topics) {
  Offer offer;
  for (const std::string& topic : topics) {
    const auto id = static_cast<std::uint32_t>(topic.back());
    offer.channels.push_back({.id = id, .topic = topic, .type = {"T", "{}"}});
    offer.graph.publishers[topic] = {"host"};
    offer.graph.subscribers[topic] = {};
  }
  offer.services.push_back({.id = 1, .name = "/host/stop", .component = "host", .method = "stop"});
  return offer;
}

class ClientsTest : public ::testing::Test {
 protected:
  ClientsTest() {
    clients_.set_offer(offer_of({"/a", "/b"}));
    id_ = clients_.add(channel_, R"({"op": "serverInfo"})");
  }
  void publish(const std::string& text, bool latched = false) {
    clients_.publish({.topic = "/a", .sender = "host", .latched = latched, .time_ns = 1, .json = text});
  }

  Clients clients_;
  FakeChannel channel_;
  Clients::Id id_ = 0;
};

TEST_F(ClientsTest, AClientIsToldWhatThereIsAndWhatChanges) {
  EXPECT_THAT(channel_.take_operations(), ElementsAre("serverInfo", "advertise", "advertiseServices"));
  FakeChannel watcher(web::Role::kWatch);
  clients_.add(watcher, R"({"op": "serverInfo"})");
  EXPECT_THAT(watcher.take_operations(), ElementsAre("serverInfo", "advertise"));
  clients_.subscribe(id_, 7, 'a');
  clients_.set_offer(offer_of({"/b", "/c"}));
  EXPECT_THAT(channel_.take_operations(), ElementsAre("unadvertise", "advertise"));
  EXPECT_THAT(clients_.wanted_topics(), IsEmpty()) << "the subscription ended with its channel";
  clients_.set_offer(offer_of({"/b", "/c"}));
  EXPECT_THAT(channel_.take_operations(), IsEmpty());
}

TEST_F(ClientsTest, OnlySubscribersReceiveMessages) {
  publish("1");
  clients_.subscribe(id_, 7, 'a');
  EXPECT_THAT(clients_.wanted_topics(), ElementsAre("/a"));
  publish("2");
  clients_.unsubscribe(id_, 7);
  publish("3");
  EXPECT_THAT(channel_.take_messages(), ElementsAre("2"));
  EXPECT_THAT(clients_.wanted_topics(), IsEmpty());
}

TEST_F(ClientsTest, LaterSubscribersReceiveTheLastMessageOfALatchedTopic) {
  clients_.subscribe(id_, 7, 'a');
  publish("1", /*latched=*/true);
  publish("2", /*latched=*/true);
  FakeChannel late;
  const Clients::Id id = clients_.add(late, "{}");
  clients_.subscribe(id, 1, 'a');
  EXPECT_THAT(late.take_messages(), ElementsAre("2"));
  // When no client listens any more, the kept messages are deleted, because the run repeats them for the next
  // subscription.
  clients_.remove(id);
  clients_.unsubscribe(id_, 7);
  clients_.wanted_topics();
  clients_.subscribe(id_, 8, 'a');
  EXPECT_THAT(channel_.take_messages(), ElementsAre("1", "2"));
}

TEST_F(ClientsTest, AFullClientMissesMessagesAndIsToldHowMany) {
  clients_.subscribe(id_, 7, 'a');
  channel_.full = true;
  for (int i = 0; i < 3; ++i) publish("{}");
  clients_.tell_time(1);
  channel_.full = false;
  channel_.texts.clear();
  clients_.tell_time(2);
  ASSERT_EQ(channel_.texts.size(), 1u);
  EXPECT_THAT(channel_.texts[0], HasSubstr("3 messages were left out"));
  EXPECT_FALSE(channel_.closed);
  clients_.tell_time(3);
  EXPECT_EQ(channel_.texts.size(), 1u) << "it has been told";
}

TEST_F(ClientsTest, AClientThatCannotBeToldOfChannelsIsDisconnected) {
  channel_.full = true;
  clients_.set_offer(offer_of({"/a", "/b", "/c"}));
  EXPECT_TRUE(channel_.closed);
}

TEST_F(ClientsTest, OnlyChangedParametersAreToldToThoseWhoWatchThem) {
  const auto values = [](double lr, int size) {
    return json::array({{{"name", "/optimizer/lr"}, {"value", lr}}, {{"name", "/loader/size"}, {"value", size}}});
  };
  clients_.watch_parameters(id_, {"/optimizer/lr"}, true);
  EXPECT_TRUE(clients_.parameters_wanted());
  channel_.texts.clear();
  clients_.tell_parameters(values(0.5, 1), /*just_set=*/false);
  clients_.tell_parameters(values(0.5, 2), /*just_set=*/false);
  EXPECT_THAT(channel_.texts, IsEmpty());
  clients_.tell_parameters(values(0.25, 2), /*just_set=*/false);
  ASSERT_EQ(channel_.texts.size(), 1u);
  EXPECT_EQ(json::parse(channel_.texts[0])["parameters"], json::array({{{"name", "/optimizer/lr"}, {"value", 0.25}}}));
  clients_.watch_parameters(id_, {}, false);
  EXPECT_FALSE(clients_.parameters_wanted());
}

TEST_F(ClientsTest, AClientWatchesABoundedNumberOfNames) {
  const auto refusal = [&](const std::vector<std::string>& names) {
    return trainyard::testing::error_of([&] { clients_.watch_parameters(id_, names, true); }).second;
  };
  std::vector<std::string> names;
  for (int i = 0; i < 4096; ++i) names.push_back(fmt::format("/optimizer/{}", i));
  EXPECT_EQ(refusal(names), "");
  EXPECT_EQ(refusal({names.front()}), "") << "it is watched already";
  EXPECT_THAT(refusal({"/optimizer/lr"}), HasSubstr("at most 4096 parameters by name"));
  EXPECT_EQ(refusal({}), "") << "this stands for all parameters";
}

TEST_F(ClientsTest, AClientHasABoundedNumberOfOpenRequests) {
  const auto refusal = [&] { return trainyard::testing::error_of([&] { clients_.begin_request(id_); }).second; };
  for (int i = 0; i < 16; ++i) EXPECT_EQ(refusal(), "");
  EXPECT_THAT(refusal(), HasSubstr("16 requests of this client are not answered yet"));
  clients_.end_request(id_, {});
  EXPECT_EQ(refusal(), "");
}

TEST_F(ClientsTest, AnAnswerForAClientThatHasGoneIsDropped) {
  clients_.begin_request(id_);
  clients_.remove(id_);
  clients_.end_request(id_, {"{}"}, "x");
}

}  // namespace
}  // namespace trainyard::foxglove
