// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/offer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "components/foxglove/protocol.h"

namespace trainyard::foxglove {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kSchema = "Metrics {\n  u64 step\n}\n";

json topic(const std::string& name, const std::string& schema = kSchema) {
  return {{"topic", name},
          {"schema", schema},
          {"publishers", json::array({{{"component", "host"}, {"process", "main"}}})},
          {"subscribers", json::array({{{"component", "logger"}}, {{"component", "logger"}}})}};
}

json node(const std::string& name, int rank, json services = json::array()) {
  return {{"component", name}, {"plugin", "any"}, {"rank", rank}, {"services", std::move(services)}};
}

TEST(OfferTest, AChannelHasTheSchemaOfItsTopicAndKeepsItsNumber) {
  OfferMaker maker;
  const Offer first = maker.make(json::array({topic("/metrics")}), json::array());
  ASSERT_EQ(first.channels.size(), 1u);
  EXPECT_EQ(first.channels[0].type.name, "Metrics");
  EXPECT_EQ(json::parse(first.channels[0].type.text)["properties"]["step"]["type"], "integer");
  EXPECT_THAT(first.graph.publishers.at("/metrics"), ElementsAre("host"));
  EXPECT_THAT(first.graph.subscribers.at("/metrics"), ElementsAre("logger"));
  const Offer second = maker.make({topic("/log"), topic("/metrics")}, json::array());
  EXPECT_EQ(second.channels[1].id, first.channels[0].id);
  EXPECT_NE(second.channels[0].id, first.channels[0].id);
  // Clients may store the schema of an id, so a changed schema gets a new id.
  const Offer changed = maker.make(json::array({topic("/metrics", "Metrics {\n  u8 step\n}\n")}), json::array());
  EXPECT_NE(changed.channels[0].id, first.channels[0].id);
}

TEST(OfferTest, AComponentOfEveryRankIsOfferedOnceWithoutItsRank) {
  OfferMaker maker;
  const json services = {"reset"};
  const Offer offer =
      maker.make(json::array(), {node("rank0/optimizer", 0, services), node("rank1/optimizer", 1, services),
                                 node("logger", 0), node("rank0/x/rank0/y", 0)});
  EXPECT_THAT(offer.parameter_owners, ElementsAre("optimizer", "logger", "x/rank0/y"));
  ASSERT_EQ(offer.services.size(), 1u);
  EXPECT_EQ(offer.services[0].name, "/optimizer/reset");
  EXPECT_THAT(offer.graph.providers.at("/optimizer/reset"), ElementsAre("optimizer"));
}

TEST(OfferTest, AServiceCanBeDescribedByTheRegistry) {
  OfferMaker maker;
  const json described = json::array({{{"service", "reset"}, {"request", "Empty {\n}\n"}, {"reply", kSchema}}});
  json smoother = node("smoother", 0, {"reset"});
  smoother["service_types"] = described;
  smoother["rank"] = nullptr;
  const Offer offer = maker.make(json::array(), json::array({smoother}));
  ASSERT_EQ(offer.services.size(), 1u);
  EXPECT_EQ(offer.services[0].request.name, "Empty");
  EXPECT_EQ(offer.services[0].reply.name, "Metrics");
}

TEST(OfferTest, WhatIsNotOfTheExpectedFormIsLeftOut) {
  OfferMaker maker;
  const Offer offer = maker.make({1, nullptr, {{"topic", 3}}, topic("/a", "no schema"), topic("", kSchema)},
                                 {1, {{"component", 2}}, node("x", -1, {3, {{"service", nullptr}}})});
  EXPECT_THAT(offer.channels, IsEmpty());
  EXPECT_THAT(offer.services, IsEmpty());
  EXPECT_THAT(offer.parameter_owners, ElementsAre("x"));
}

TEST(GraphUpdateTest, SaysOnlyWhatHasChanged) {
  const Graph before{{{"/a", {"x"}}, {"/b", {"x"}}}, {{"/a", {"y"}}, {"/b", {"y"}}}, {{"/x/reset", {"x"}}}};
  EXPECT_EQ(graph_update(before, before), "");
  const Graph after{{{"/a", {"x"}}, {"/c", {"z"}}}, {{"/a", {}}, {"/c", {"y"}}}, {}};
  const json update = json::parse(graph_update(before, after));
  EXPECT_EQ(update["publishedTopics"], (json{{{"name", "/c"}, {"publisherIds", {"z"}}}}));
  EXPECT_EQ(update["subscribedTopics"],
            (json{{{"name", "/a"}, {"subscriberIds", json::array()}}, {{"name", "/c"}, {"subscriberIds", {"y"}}}}));
  EXPECT_EQ(update["removedTopics"], json({"/b"}));
  EXPECT_EQ(update["removedServices"], json({"/x/reset"}));
}

// The expected bytes are taken from the tables of the specification.
TEST(ProtocolTest, BinaryMessagesHaveTheBytesOfTheSpecification) {
  EXPECT_EQ(message_data(0x04030201, 0x0807060504030201, "{}"),
            std::string("\x01\x01\x02\x03\x04\x01\x02\x03\x04\x05\x06\x07\x08{}", 15));
  EXPECT_EQ(time_message(1), std::string("\x02\x01\0\0\0\0\0\0\0", 9));
  EXPECT_EQ(service_response(1, 2, "{}"), std::string("\x03\x01\0\0\0\x02\0\0\0\x04\0\0\0json{}", 19));
  const std::string bytes("\x02\x01\0\0\0\x02\0\0\0\x04\0\0\0json{}", 19);
  const ServiceRequest request = read_service_request(bytes);
  EXPECT_EQ(request.service, 1u);
  EXPECT_EQ(request.call, 2u);
  EXPECT_EQ(request.encoding, "json");
  EXPECT_EQ(request.payload, "{}");
}

TEST(ProtocolTest, ACallThatIsCutOffAnywhereIsRefused) {
  const std::string bytes("\x02\x01\0\0\0\x02\0\0\0\x04\0\0\0json", 17);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_ANY_THROW(read_service_request(std::string_view(bytes).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace trainyard::foxglove
