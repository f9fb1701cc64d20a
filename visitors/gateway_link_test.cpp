// SPDX-License-Identifier: Apache-2.0
#include "visitors/gateway_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"
#include "messages/json.h"
#include "visitors/fake_gateway.h"

namespace trainyard::visitors::testing {
namespace {

using ::testing::HasSubstr;
using trainyard::testing::error_of;

class GatewayLinkTest : public ::testing::Test {
 protected:
  GatewayLink& link(ListenOptions options = {}) {
    link_ = std::make_unique<GatewayLink>(context_, endpoint_, std::vector<Stream*>{&stream_}, std::move(options));
    pump([this] { return !link_->disconnected(); });
    return *link_;
  }

  /// Calls take() of the link until `done` returns true, or until a deadline.
  template <class Done>
  void pump(Done done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until) {
      while (auto received = link_->take()) received_.push_back(std::move(*received));
      if (done()) return;
      std::vector<zmq::pollitem_t> items;
      link_->add_to(items);
      zmq::poll(items, std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << "nothing happened for 20 s";
  }

  zmq::context_t context_;
  trainyard::testing::TemporaryFolder folder_;
  std::string endpoint_ = "ipc://" + folder_.path() + "/gateway";
  std::optional<FakeGateway> gateway_{std::in_place, context_, endpoint_};
  Stream stream_{.topic = "/scalars"};
  std::unique_ptr<GatewayLink> link_;
  std::vector<Received> received_;
};

TEST_F(GatewayLinkTest, SubscribesAsAVisitorAndReadsMessages) {
  link();
  ASSERT_EQ(gateway_->receive(), "Subscribe");
  const auto request = gateway_->body<Subscribe>();
  EXPECT_EQ(request.topic, "/scalars");
  EXPECT_EQ(request.policy, "drop_oldest");
  EXPECT_EQ(request.payloads, "none");
  EXPECT_EQ(request.edge, 0xffff'ffffu);
  EXPECT_FALSE(link_->subscribed());
  gateway_->answer();
  gateway_->publish({"loss", 1.5}, 0);
  pump([&] { return received_.size() == 1; });
  EXPECT_EQ(json_from_binary(received_[0].stream->schema, received_[0].bytes()), R"({"name":"loss","value":1.5})");
  EXPECT_EQ(stream_.type, "Scalar");
  EXPECT_TRUE(link_->subscribed());
  EXPECT_EQ(*received_[0].endpoint, endpoint_);
}

TEST_F(GatewayLinkTest, ReturnsCreditAtHalfOfTheWindowAndAfterAFlushForEveryMessage) {
  link({.window_messages = 4});
  gateway_->accept();
  for (std::uint64_t i = 0; i < 2; ++i) gateway_->publish({"loss", 1}, i);
  pump([&] { return received_.size() == 2; });
  ASSERT_EQ(gateway_->receive(), "Credit");
  EXPECT_EQ(gateway_->body<Credit>().messages, 2u);
  EXPECT_EQ(gateway_->body<Credit>().bytes, received_[0].body.size() * 2);
  gateway_->send(Flush{});
  gateway_->publish({"loss", 1}, 2);
  pump([&] { return received_.size() == 3; });
  ASSERT_EQ(gateway_->receive(), "Credit");
  EXPECT_EQ(gateway_->body<Credit>().messages, 1u);
}

TEST_F(GatewayLinkTest, CountsTheGapsOfEverySender) {
  link();
  gateway_->accept();
  gateway_->publish({"a", 0}, 7, 1);
  gateway_->publish({"a", 0}, 9, 1);
  gateway_->publish({"b", 0}, 100, 2);
  gateway_->publish({"a", 0}, 0, 1);  // As from a process that was started again.
  gateway_->publish({"a", 0}, 1, 1);
  pump([&] { return received_.size() == 5; });
  EXPECT_EQ(stream_.arrived, 5u);
  EXPECT_EQ(stream_.missed, 1u);
}

TEST_F(GatewayLinkTest, ThrowsWhenThePublisherRefuses) {
  link();
  ASSERT_EQ(gateway_->receive(), "Subscribe");
  gateway_->answer("no such topic here");
  EXPECT_EQ(error_of([&] { pump([] { return false; }); }),
            std::pair(Code::kNotFound, std::string("topic '/scalars' cannot be subscribed: no such topic here")));
}

TEST_F(GatewayLinkTest, SubscribesAgainWhenTheProcessWasStartedAgain) {
  link();
  gateway_->accept();
  gateway_->publish({"loss", 1}, 0);
  pump([&] { return received_.size() == 1; });
  gateway_.reset();
  pump([&] { return link_->disconnected(); });
  gateway_.emplace(context_, endpoint_);
  pump([&] { return !link_->disconnected(); });
  ASSERT_EQ(gateway_->receive(), "Subscribe");
  gateway_->publish({"too early", 1}, 0);
  gateway_->answer();
  gateway_->publish({"loss", 2}, 1);
  pump([&] { return received_.size() == 2; });
  EXPECT_THAT(received_[1].body.to_string(), HasSubstr("loss")) << "what comes before the answer is not ours";
}

TEST_F(GatewayLinkTest, HasEndedWhenThePublisherSaysSo) {
  link();
  gateway_->accept();
  EXPECT_FALSE(link_->ended());
  gateway_->send(Ended{});
  pump([&] { return link_->ended(); });
}

TEST_F(GatewayLinkTest, SaysGoodbye) {
  link();
  gateway_->accept();
  link_.reset();
  EXPECT_EQ(gateway_->receive(), "Unsubscribe");
}

TEST_F(GatewayLinkTest, RefusesAddressesBeyondThisHost) {
  endpoint_ = "tcp://192.0.2.1:5000";
  EXPECT_THAT(error_of([&] { link(); }).second, HasSubstr("192.0.2.1"));
}

}  // namespace
}  // namespace trainyard::visitors::testing
