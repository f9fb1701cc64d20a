// SPDX-License-Identifier: Apache-2.0
#include "launch/run/control_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/temporary_folder.h"
#include "launch/testing/expect_error.h"
#include "messages/control.h"

namespace trainyard::launch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Tests with the channel of a launcher. The test plays the part of a process.
class ControlChannelTest : public ::testing::Test {
 protected:
  ControlChannelTest() {
    channel_.on<Heartbeat>([this](const std::string& process, const Heartbeat& beat) {
      beats_.push_back(process + std::to_string(beat.sequence));
    });
    channel_.on_any([this](const std::string&) { ++signs_of_life_; });
    peer_.set(zmq::sockopt::routing_id, "p");
    peer_.set(zmq::sockopt::linger, 0);
    peer_.set(zmq::sockopt::rcvtimeo, 20'000);
    peer_.connect(channel_.endpoint());
  }

  void send(std::initializer_list<std::string> frames) {
    std::size_t left = frames.size();
    for (const std::string& frame : frames) {
      peer_.send(zmq::buffer(frame), --left != 0 ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }

  void serve() { loop_.run_once(std::chrono::seconds(20)); }

  template <Message T>
  static std::string body_of(const T& message) {
    std::string body;
    std::vector<Buffer> none;
    encode(message, body, none);
    return body;
  }

  TemporaryFolder folder_;
  PollLoop loop_;
  zmq::context_t context_;
  std::vector<std::string> broken_;
  ControlChannel channel_{
      context_, loop_, "ipc://" + folder_.path() + "/control", {}, [this](const auto& process, const auto& what) {
        broken_.push_back(process + ": " + what);
      }};
  zmq::socket_t peer_{context_, zmq::socket_type::dealer};
  std::vector<std::string> beats_;
  int signs_of_life_ = 0;
};

TEST_F(ControlChannelTest, HandsMessagesToTheHandlerOfTheirType) {
  send({"Heartbeat", body_of(Heartbeat{"p", 7})});
  serve();
  EXPECT_THAT(beats_, ElementsAre("p7"));
  EXPECT_EQ(signs_of_life_, 1);
  EXPECT_THAT(broken_, IsEmpty());
}

TEST_F(ControlChannelTest, SendsToOneProcessByName) {
  send({"Heartbeat", body_of(Heartbeat{"p", 1})});
  serve();  // The channel now knows the process.
  EXPECT_TRUE(channel_.send("p", Transition{"c", "active"}));
  zmq::message_t type, body;
  ASSERT_TRUE(peer_.recv(type));
  ASSERT_TRUE(peer_.recv(body));
  EXPECT_EQ(type.to_string(), "Transition");
  EXPECT_EQ(body.to_string(), body_of(Transition{"c", "active"}));
}

TEST_F(ControlChannelTest, SaysThatAProcessIsNotThere) { EXPECT_FALSE(channel_.send("nobody", Connect{})); }

TEST_F(ControlChannelTest, ReportsWhatItCannotReadAndGoesOn) {
  send({"Heartbeat"});
  serve();
  send({"Gossip", ""});
  serve();
  send({"Heartbeat", "short"});
  serve();
  ASSERT_EQ(broken_.size(), 3u);
  EXPECT_EQ(broken_[0], "p: a control message of 2 frames; 3 are allowed");
  EXPECT_EQ(broken_[1], "p: a control message of unknown type 'Gossip'");
  EXPECT_THAT(broken_[2], HasSubstr("p: a broken Heartbeat: "));
  send({"Heartbeat", body_of(Heartbeat{"p", 2})});
  serve();
  EXPECT_THAT(beats_, ElementsAre("p2"));
}

TEST_F(ControlChannelTest, NamesTheAddressThatCannotBeBound) {
  EXPECT_THAT(error_of([this] { RouterSocket(context_, "ipc:///nowhere/at/all", {}); }),
              HasSubstr("cannot bind ipc:///nowhere/at/all: "));
}

}  // namespace
}  // namespace trainyard::launch::testing
