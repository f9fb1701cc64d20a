// SPDX-License-Identifier: Apache-2.0
#include "core/transport/visitor_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/testing/freed_memory.h"
#include "core/testing/pipe.h"
#include "core/testing/temporary_folder.h"
#include "messages/arena.h"
#include "messages/limits.h"

namespace trainyard::core {
namespace {

using ::testing::HasSubstr;
using testing::Pipe;

/// A visitor with one connection.
class Stranger {
 public:
  Stranger(zmq::context_t& context, const std::string& endpoint)
      : socket_(make_socket(context, zmq::socket_type::dealer)) {
    socket_.connect(endpoint);
  }

  template <Message T>
  void say(const T& message) {
    send_control(socket_, {}, message);
  }
  void say(const std::string& kind, const std::string& body) {
    Frames frames;
    frames.emplace_back();
    frames.emplace_back(std::string_view(kind));
    frames.emplace_back(std::string_view(body));
    send_frames(socket_, frames);
  }

  /// Reads one message, if one has arrived. Returns true if there was one.
  bool read() {
    Frames frames;
    if (!receive_frames(socket_, frames)) return false;
    if (frames.size() == 3 && frames[0].size() == 0) {
      if (frames[1].to_string() == Subscribed::kTypeName) answers.push_back(read_message<Subscribed>(frames[2]));
      if (frames[1].to_string() == Ended::kTypeName) ended = true;
    } else if (frames.size() > 2) {
      ++messages;
      for (std::size_t i = 3; i < frames.size(); ++i) payload_bytes += frames[i].size();
    }
    return true;
  }
  void leave() { socket_.close(); }

  std::vector<Subscribed> answers;
  bool ended = false;
  std::uint64_t messages = 0;
  std::uint64_t payload_bytes = 0;

 private:
  zmq::socket_t socket_;
};

/// A fixture with a door to one component that sends ArenaBlock. Everything is on one loop, and the test determines
/// when it runs.
class VisitorDoorTest : public ::testing::Test {
 protected:
  class Source final : public Component {
   public:
    explicit Source(ComponentContext context) : Component(context) {}
    Output<ArenaBlock> out{*this, "blocks", ""};
  };

  VisitorDoorTest() {
    pipe_.loop.add(door_);
    pipe_.loop.add(door_.connections());
  }
  ~VisitorDoorTest() override {
    pipe_.loop.remove(door_);
    pipe_.loop.remove(door_.connections());
  }

  Stranger stranger() { return Stranger(zmq_, door_.endpoint()); }

  /// Subscribes and returns the answer.
  Subscribed answer_to(Stranger& stranger, const Subscribe& request) {
    const std::size_t before = stranger.answers.size();
    stranger.say(request);
    run_until([&] {
      while (stranger.read()) {
      }
      return stranger.answers.size() > before;
    });
    return stranger.answers.back();
  }

  static Subscribe request(std::uint32_t subscription = 0) {
    return {.subscription = subscription, .topic = "/blocks", .payloads = "inline"};
  }

  void send(std::size_t bytes) {
    source_.out.send(
        ArenaBlock{.name = "x", .data = {DType::kUInt8, {static_cast<std::int64_t>(bytes)}, 0, pool_.allocate(bytes)}});
  }

  void run_until(const std::function<bool()>& done) { pipe_.run_until(done); }

  testing::TemporaryFolder folder_;
  zmq::context_t zmq_;
  SharedPool pool_;
  Pipe pipe_;
  Source source_{pipe_.context("blocks")};
  std::size_t joined_ = 0;
  VisitorDoor door_{
      zmq_,
      "ipc://" + folder_.path() + "/door",
      {.find = [this](const std::string& topic) -> OutputBase* { return topic == "/blocks" ? &source_.out : nullptr; },
       .joined =
           [this](VisitorEdge& edge) {
             ++joined_;
             source_.out.add_edge(edge);
           },
       .left =
           [this](VisitorEdge& edge) {
             --joined_;
             source_.out.remove_edge(edge);
           }}};
};

TEST_F(VisitorDoorTest, WhatAVisitorMayNotAskForIsRefusedWithWhatIsAllowed) {
  Stranger visitor = stranger();
  const auto refusal = [&](auto change) {
    Subscribe asked = request();
    change(asked);
    return answer_to(visitor, asked).error;
  };
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(refusal([](Subscribe& asked) { asked.window_messages = kHuge; }),
            "window_messages = 18446744073709551615 is too much; at most 1024");
  EXPECT_EQ(refusal([](Subscribe& asked) { asked.window_bytes = kHuge; }),
            "window_bytes = 18446744073709551615 is too much; at most 67108864");
  EXPECT_EQ(refusal([](Subscribe& asked) { asked.policy = "foo"; }),
            "a visitor cannot ask for policy 'foo'; allowed: drop_oldest, latest");
  EXPECT_EQ(refusal([](Subscribe& asked) { asked.policy = "block"; }),
            "a visitor cannot ask for policy 'block'; allowed: drop_oldest, latest");
  for (const std::string payloads : {"handle", "foo"}) {
    EXPECT_EQ(refusal([&](Subscribe& asked) { asked.payloads = payloads; }),
              "a visitor cannot ask for payloads '" + payloads + "'; allowed: none, inline");
  }
  EXPECT_EQ(refusal([](Subscribe& asked) { asked.edge = 3; }), "edge 3 is not for visitors; only 4294967295 is");
  EXPECT_EQ(refusal([](Subscribe& asked) { asked.topic = "/block"; }), "no topic '/block' in this process");
  EXPECT_EQ(refusal([](Subscribe& asked) { asked.topic = std::string(3000, 'x'); }),
            "the topic's name has 3000 bytes; at most 200");
  EXPECT_THAT(refusal([](Subscribe& asked) { asked.fingerprint = 1; }),
              ::testing::HasSubstr("and 0000000000000001 was asked for"));
  EXPECT_EQ(joined_, 0u);
  EXPECT_EQ(refusal([](Subscribe&) {}), "");
  EXPECT_EQ(joined_, 1u);
}

TEST_F(VisitorDoorTest, OneConnectionHasABoundedNumberOfSubscriptions) {
  Stranger greedy = stranger();
  for (std::uint32_t i = 0; i < kMaxVisitorSubscriptions; ++i) EXPECT_EQ(answer_to(greedy, request(i)).error, "");
  EXPECT_EQ(answer_to(greedy, request(1000)).error, "one connection may have at most 64 subscriptions");
  EXPECT_EQ(answer_to(greedy, request(3)).error, "") << "one that is there may begin anew";
  Stranger other = stranger();
  EXPECT_EQ(answer_to(other, request()).error, "");
  EXPECT_EQ(joined_, kMaxVisitorSubscriptions + 1);
}

TEST_F(VisitorDoorTest, AllConnectionsTogetherHaveABoundedNumberOfSubscriptions) {
  std::vector<Stranger> greedy;
  while (joined_ < VisitorDoor::kMostSubscriptions) {
    greedy.push_back(stranger());
    for (std::uint32_t i = 0; i < kMaxVisitorSubscriptions; ++i) {
      ASSERT_EQ(answer_to(greedy.back(), request(i)).error, "");
    }
  }
  Stranger late = stranger();
  EXPECT_EQ(answer_to(late, request()).error,
            "the visitors of this process have 1024 subscriptions already, which is the most");
  greedy.front().say(Unsubscribe{0});
  run_until([&] { return joined_ < VisitorDoor::kMostSubscriptions; });
  EXPECT_EQ(answer_to(late, request()).error, "") << "one has made room";
}

TEST_F(VisitorDoorTest, VisitorsThatDoNotReadHaveABoundedAmountUnreadAndANewcomerIsServed) {
  std::vector<Stranger> lazy;
  for (int i = 0; i < 20; ++i) {
    lazy.push_back(stranger());
    EXPECT_EQ(answer_to(lazy.back(), request()).error, "");
  }
  std::uint64_t most = 0;
  for (int i = 0; i < 600; ++i) {
    send(1 << 20);
    // They claim to have read everything.
    for (Stranger& one : lazy) one.say(Credit{0, 1000, 1ull << 40});
    pipe_.run_until_idle();
    most = std::max(most, door_.unread());
  }
  EXPECT_GT(most, VisitorLedger::kBytes / 4);
  EXPECT_LE(most, VisitorLedger::kBytes);
  Stranger good = stranger();
  EXPECT_EQ(answer_to(good, request()).error, "");
  send(1000);
  run_until([&] {
    good.read();
    return good.messages == 1;
  });
  EXPECT_EQ(good.payload_bytes, 1000u);
}

TEST_F(VisitorDoorTest, WhatAVisitorTookIsGivenBackWhenItGoes) {
  Stranger lazy = stranger();
  EXPECT_EQ(answer_to(lazy, request()).error, "");
  for (int i = 0; i < 300; ++i) send(1 << 20);
  pipe_.run_until_idle();
  ASSERT_GT(door_.unread(), 1u << 20);
  lazy.leave();
  run_until([&] {
    door_.sweep();
    return door_.unread() == 0 && joined_ == 0;
  });
}

TEST_F(VisitorDoorTest, ReturnsMemoryToTheSystemAfterAStormOfMessages) {
  if (!testing::FreedMemory::kCanReturn) GTEST_SKIP() << "the allocators of sanitizers keep freed memory";
  Stranger talker = stranger();
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 50; ++i) talker.say(Credit{77, 1, 1});
    EXPECT_EQ(answer_to(talker, request()).error, "") << "all before it has been handled";
  }
  const testing::FreedMemory freed;
  const std::uint64_t before = testing::resident_bytes();
  door_.sweep();
  EXPECT_GT(testing::resident_bytes(), before - testing::FreedMemory::kBytes / 2) << "the storm may go on";
  door_.sweep();
  EXPECT_LT(testing::resident_bytes(), before - testing::FreedMemory::kBytes / 2);
}

TEST_F(VisitorDoorTest, ASilentVisitorIsKeptAndOneThatHasGoneIsForgotten) {
  Stranger silent = stranger();
  EXPECT_EQ(answer_to(silent, request()).error, "");
  for (int i = 0; i < 10; ++i) door_.sweep();
  EXPECT_EQ(joined_, 1u);
  silent.leave();
  run_until([&] {
    door_.sweep();
    return joined_ == 0;
  });
}

TEST_F(VisitorDoorTest, AMessageThatIsTooLargeForAVisitorIsDroppedAndTheNextOneComes) {
  Stranger lazy = stranger();
  EXPECT_EQ(answer_to(lazy, request()).error, "");
  send(1 << 20);  // This message stays unread, so that the whole capacity is not free for the next visitor.
  pipe_.run_until_idle();
  Stranger visitor = stranger();
  EXPECT_EQ(answer_to(visitor, request()).error, "");
  send(VisitorLedger::kBytes);
  send(5);
  run_until([&] {
    visitor.read();
    return visitor.messages == 1;
  });
  EXPECT_EQ(visitor.payload_bytes, 5u);
}

TEST_F(VisitorDoorTest, AGiantMessageThatNobodyReadsLeavesRoomForTheOthers) {
  Stranger lazy = stranger();
  EXPECT_EQ(answer_to(lazy, request()).error, "");
  run_until([&] { return door_.unread() == 0; });
  send(VisitorLedger::kBytes + 1);
  pipe_.run_until_idle();
  EXPECT_GT(door_.unread(), VisitorLedger::kBytes / 4);
  Stranger good = stranger();
  EXPECT_EQ(answer_to(good, request()).error, "");
  send(5);
  run_until([&] {
    good.read();
    return good.messages == 1;
  });
}

TEST_F(VisitorDoorTest, NonsenseIsNotAnsweredAndDisturbsNobody) {
  Stranger hostile = stranger();
  for (const std::string& body : {std::string(), std::string("x"), std::string(4000, '\xff')}) {
    for (const char* kind : {"Subscribe", "Credit", "Unsubscribe", "Subscribed", ""}) hostile.say(kind, body);
  }
  hostile.say(Credit{77, 1, 1});
  hostile.say(Unsubscribe{77});
  Stranger good = stranger();
  EXPECT_EQ(answer_to(good, request()).error, "");
  while (hostile.read()) {
  }
  EXPECT_TRUE(hostile.answers.empty());
}

TEST_F(VisitorDoorTest, AFrameThatIsTooLargeClosesItsConnectionAlone) {
  Stranger good = stranger();
  EXPECT_EQ(answer_to(good, request()).error, "");
  Stranger large = stranger();
  EXPECT_EQ(answer_to(large, request()).error, "");
  large.say("Subscribe", std::string(kMaxControlBytes + 1, 'x'));
  run_until([&] {
    door_.sweep();
    return joined_ == 1;
  });
  send(5);
  run_until([&] {
    good.read();
    return good.messages == 1;
  });
}

TEST_F(VisitorDoorTest, EveryVisitorIsToldOfTheEnd) {
  Stranger visitor = stranger();
  EXPECT_EQ(answer_to(visitor, request()).error, "");
  send(5);
  door_.say_ended();
  run_until([&] {
    visitor.read();
    return visitor.ended;
  });
  EXPECT_EQ(visitor.messages, 1u);
}

}  // namespace
}  // namespace trainyard::core
