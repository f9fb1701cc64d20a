// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/subscriber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/temporary_folder.h"
#include "core/transport/frames.h"
#include "launch/testing/expect_error.h"
#include "messages/json.h"
#include "messages/scalar.h"

namespace trainyard::tools {

using namespace trainyard::testing;
namespace {

using ::testing::HasSubstr;

/// Plays the publishing side: everything happens on one thread, in the order of the test.
class SubscriberTest : public ::testing::Test {
 protected:
  SubscriberTest() : gateway_(context_, zmq::socket_type::router) {
    gateway_.set(zmq::sockopt::linger, 0);
    gateway_.set(zmq::sockopt::rcvtimeo, 20'000);
    gateway_.bind(endpoint_);
  }

  /// Receives the next control message and returns its kind. The sender and the body are kept.
  std::string receive() {
    zmq::message_t peer, empty, kind;
    (void)gateway_.recv(peer);
    (void)gateway_.recv(empty);
    (void)gateway_.recv(kind);
    (void)gateway_.recv(body_);
    peer_ = peer.to_string();
    return kind.to_string();
  }

  void acknowledge(const std::string& error = "") {
    const MessageType& type = message_type<Scalar>();
    core::send_control(gateway_, peer_,
                       Subscribed{.topic = "/scalars",
                                  .type = type.name,
                                  .fingerprint = type.fingerprint,
                                  .schema = type.schema_text,
                                  .error = error});
  }

  void publish(const Scalar& scalar) {
    std::string body;
    std::vector<Buffer> none;
    encode(scalar, body, none);
    const Header header{.fingerprint = message_type<Scalar>().fingerprint};
    core::Frames frames;
    for (const std::string_view part :
         {std::string_view(peer_), std::string_view("/scalars"),
          std::string_view(reinterpret_cast<const char*>(&header), sizeof header), std::string_view(body)}) {
      frames.emplace_back(part);
    }
    core::send_frames(gateway_, frames);
  }

  zmq::context_t context_;
  zmq::socket_t gateway_;
  TemporaryFolder folder_;
  std::string endpoint_ = "ipc://" + folder_.path() + "/gateway";
  std::string peer_;
  zmq::message_t body_;
};

TEST_F(SubscriberTest, SubscribesAsAVisitorReadsMessagesAndGivesCreditBack) {
  Subscriber subscriber(context_, "/scalars", {endpoint_, endpoint_});
  EXPECT_EQ(receive(), "Subscribe");
  const auto request = core::read_message<Subscribe>(body_);
  EXPECT_EQ(request.topic, "/scalars");
  EXPECT_EQ(request.policy, "drop_oldest");
  EXPECT_EQ(request.payloads, "none");
  EXPECT_EQ(request.edge, 0xffff'ffffu);
  acknowledge();
  publish({"loss", 1.5});
  const auto received = subscriber.next(std::chrono::seconds(20));
  ASSERT_TRUE(received);
  EXPECT_EQ(json_from_binary(*received->schema, std::as_bytes(std::span(received->body))),
            R"({"name":"loss","value":1.5})");
  EXPECT_EQ(receive(), "Credit");
  EXPECT_EQ(core::read_message<Credit>(body_).messages, 1u);
}

TEST_F(SubscriberTest, GivesUpAtTheDeadline) {
  Subscriber subscriber(context_, "/scalars", {endpoint_});
  EXPECT_FALSE(subscriber.next(std::chrono::milliseconds(1)));
}

TEST_F(SubscriberTest, ThrowsWhenThePublisherRefuses) {
  Subscriber subscriber(context_, "/scalars", {endpoint_});
  receive();
  acknowledge("no such topic here");
  EXPECT_EQ(launch::testing::error_of([&] { subscriber.next(std::chrono::seconds(20)); }),
            "topic '/scalars' cannot be subscribed: no such topic here");
}

TEST_F(SubscriberTest, SaysGoodbye) {
  { Subscriber subscriber(context_, "/scalars", {endpoint_}); }
  EXPECT_EQ(receive(), "Subscribe");
  EXPECT_EQ(receive(), "Unsubscribe");
}

TEST_F(SubscriberTest, RefusesAddressesBeyondThisHost) {
  EXPECT_THAT(launch::testing::error_of([&] { Subscriber(context_, "/scalars", {"tcp://192.0.2.1:5000"}); }),
              HasSubstr("192.0.2.1"));
}

}  // namespace
}  // namespace trainyard::tools
