// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <thread>

#include "launch/hosts/host_search.h"
#include "launch/hosts/join_check.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

/// Returns a few ports of the loopback device that are free at present.
std::vector<std::uint16_t> free_ports() {
  zmq::context_t context;
  std::vector<std::uint16_t> ports;
  std::vector<zmq::socket_t> sockets;
  while (ports.size() < 3) {
    sockets.emplace_back(context, zmq::socket_type::router);
    sockets.back().bind("tcp://127.0.0.1:*");
    const std::string endpoint = sockets.back().get(zmq::sockopt::last_endpoint);
    ports.push_back(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  }
  return ports;
}

/// A Join that an agent of another version might send.
struct OtherJoin {
  static constexpr const char* kTypeName = "Join";

  std::uint32_t protocol = 99;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(protocol));
  }
};

/// Tests with two or more hosts on the loopback device. Host 0 runs on the test's own thread, and every agent on a
/// separate thread.
class HostDoorTest : public ::testing::Test {
 protected:
  explicit HostDoorTest() {
    plan_.hosts = 2;
    plan_.arguments = {"devices=1"};
  }

  HostSettings settings(std::uint32_t host) const {
    HostSettings settings{.self = describe_launch(plan_, {}),
                          .meeting = {"127.0.0.1", ports_},
                          .key = key_,
                          .join_timeout = 20s,
                          .first_reminder = 50ms,
                          .reminder = 50ms};
    settings.self.host = host;
    settings.self.host_name = "here";
    settings.self.job = "job";
    return settings;
  }

  /// Lets an agent search for host 0 until it has an answer. Returns "accepted", or the reason why it was refused.
  std::string search(const HostSettings& settings) const {
    PollLoop loop;
    RunConsole console;
    zmq::context_t context;
    std::string result;
    const HostSearch search(loop, console, context, settings,
                            {.accepted = [&](HostLink&, auto) { result = "accepted"; },
                             .failed = [&](const std::string& reason) { result = reason; }});
    while (result.empty()) loop.run_once(10ms);
    return result;
  }

  /// Lets host 0 wait for the agents. Returns the text of the error, or "(no error)".
  std::string gather(const HostSettings& settings) {
    HostDoor door(plan_, settings);
    return testing::error_of([&] { door.gather(console_); });
  }

  Plan plan_;
  core::RunKeys key_ = core::RunKeys::make();
  std::vector<std::uint16_t> ports_ = free_ports();
  RunConsole console_;
};

TEST_F(HostDoorTest, MoreHostsThanDescriptorsAreRefusedAtOnce) {
  const HostSettings own = settings(0);
  plan_.hosts = std::numeric_limits<std::uint32_t>::max();
  EXPECT_THAT(testing::error_of([&] { const HostDoor door(plan_, own); }),
              AllOf(HasSubstr("the run has 4294967295 hosts"), HasSubstr("ulimit -n")));
}

TEST_F(HostDoorTest, AnAgentWithAnEqualLaunchIsAccepted) {
  std::string answer;
  std::jthread agent([&] { answer = search(settings(1)); });
  const HostSettings own = settings(0);
  HostDoor door(plan_, own);
  door.gather(console_);
  agent.join();
  EXPECT_EQ(answer, "accepted");
  EXPECT_EQ(door.joined(1).host_name, "here");
  EXPECT_EQ(door.joined(1).address, "127.0.0.1");
  EXPECT_EQ(door.own_address(), "127.0.0.1");
}

TEST_F(HostDoorTest, AnAgentThatDiffersIsRefusedAndHostZeroGoesOnWaiting) {
  HostSettings other = settings(1);
  other.self.arguments = {"devices=2"};
  std::string answer;
  std::jthread agent([&] { answer = search(other); });
  HostSettings own = settings(0);
  own.join_timeout = 3s;
  EXPECT_EQ(gather(own), "host 1 did not join within 3 s");
  agent.join();
  EXPECT_THAT(answer, AllOf(StartsWith("host 0, at tcp://127.0.0.1:"),
                            HasSubstr("does not accept host 1: it was started with other arguments: devices=2")));
}

TEST_F(HostDoorTest, TwoAgentsWithOneNumberAreNotBothAccepted) {
  plan_.hosts = 3;
  std::vector<std::string> answers(2);
  {
    const HostSettings first = settings(1), second = settings(1);
    std::jthread one([&] { answers[0] = search(first); });
    std::jthread two([&] { answers[1] = search(second); });
    HostSettings own = settings(0);
    own.join_timeout = 5s;
    gather(own);
  }
  std::ranges::sort(answers);
  EXPECT_EQ(answers[0], "accepted");
  EXPECT_THAT(answers[1], HasSubstr("it has the same number as host 1 (here, 127.0.0.1), which has already joined"));
}

TEST_F(HostDoorTest, AnAgentWithAnotherKeyIsNotHeard) {
  HostSettings other = settings(1);
  other.key = core::RunKeys::make();
  other.join_timeout = 2s;
  std::string answer;
  std::jthread agent([&] { answer = search(other); });
  HostSettings own = settings(0);
  own.join_timeout = 2s;
  EXPECT_EQ(gather(own), "host 1 did not join within 2 s");
  agent.join();
  EXPECT_THAT(answer, AllOf(StartsWith("host 1 did not find host 0 within 2 s: 127.0.0.1 (127.0.0.1, which is this "
                                       "host itself) accepts connections at port "),
                            HasSubstr("but nobody there knows the key of this host")));
}

TEST_F(HostDoorTest, AnAgentOfAnotherJobLooksElsewhere) {
  HostSettings other = settings(1);
  other.self.job = "other job";
  other.join_timeout = 2s;
  std::string answer;
  std::jthread agent([&] { answer = search(other); });
  HostSettings own = settings(0);
  own.join_timeout = 2s;
  EXPECT_EQ(gather(own), "host 1 did not join within 2 s");
  agent.join();
  EXPECT_THAT(answer, AllOf(StartsWith("host 1 did not find host 0 within 2 s"),
                            HasSubstr("only host 0 of another job or of another start answers")));
}

TEST_F(HostDoorTest, AJoinThatCannotBeReadIsRefused) {
  zmq::context_t context;
  PollLoop loop;
  HostSettings own = settings(0);
  own.join_timeout = 3s;
  std::string reason;
  std::jthread stranger([&] {
    HostLink link(context, loop, "tcp://127.0.0.1:" + std::to_string(ports_.front()), key_);
    link.messages().on<JoinAnswer>([&](const JoinAnswer& answer) { reason = answer.reason; });
    while (reason.empty()) {
      link.send(OtherJoin{});
      loop.run_once(10ms);
    }
  });
  gather(own);
  stranger.join();
  EXPECT_THAT(reason, HasSubstr("install the same version of Trainyard on all hosts"));
}

TEST_F(HostDoorTest, AMessageOfAHostThatCannotBeReadNamesTheHost) {
  HostSettings own = settings(0);
  HostDoor door(plan_, own);
  door.messages().on<HostNote>(
      [](std::uint32_t, const HostNote&) { throw Error(Code::kCorrupt, "the note 'x' of 0 bytes is not allowed"); });
  std::jthread agent([&] {
    PollLoop loop;
    RunConsole console;
    zmq::context_t context;
    bool sent = false;
    const HostSettings other = settings(1);
    const HostSearch search(loop, console, context, other,
                            {.accepted =
                                 [&](HostLink& link, auto) {
                                   sent = link.send(HostNote{"x", ""});
                                 },
                             .failed = [&](const std::string&) { sent = true; }});
    while (!sent) loop.run_once(10ms);
    // Closing the link does not drop the message, because libzmq sends it first.
  });
  PollLoop loop;
  // The message can arrive while the door still waits for hosts.
  const std::string text = testing::error_of([&] {
    door.gather(console_);
    door.serve(loop);
    const auto end = PollLoop::Clock::now() + 20s;
    while (PollLoop::Clock::now() < end) loop.run_once(10ms);
  });
  door.stop_serving();
  EXPECT_THAT(text, AllOf(StartsWith("host 1 (here, 127.0.0.1) sent a HostNote that is not allowed: "),
                          HasSubstr("the note 'x' of 0 bytes is not allowed")));
}

TEST_F(HostDoorTest, HostsMeetOverIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  HostSettings own = settings(0), other = settings(1);
  own.meeting.host = other.meeting.host = "::1";
  std::string answer;
  std::jthread agent([&] { answer = search(other); });
  HostDoor door(plan_, own);
  door.gather(console_);
  agent.join();
  EXPECT_EQ(answer, "accepted");
  EXPECT_EQ(door.joined(1).address, "::1");
  EXPECT_EQ(door.own_address(), "::1");
}

TEST_F(HostDoorTest, ANameServerThatDoesNotAnswerDoesNotHoldUpTheAgent) {
  std::promise<void> answer;
  HostSettings own = settings(1);
  own.join_timeout = 1s;
  own.resolve = [gate = answer.get_future().share()](const std::string&) -> std::string {
    gate.wait();
    return "127.0.0.1";
  };
  EXPECT_THAT(search(own), StartsWith("host 1 did not find host 0 within 1 s: the address of '127.0.0.1' is not known "
                                      "yet: no name server has answered"));
  answer.set_value();
}

TEST_F(HostDoorTest, ANameThatBecomesKnownIsUsed) {
  HostSettings other = settings(1);
  other.resolve = [tries = std::make_shared<int>(0)](const std::string&) -> std::string {
    if ((*tries)++ == 0) throw Error(Code::kNotFound, std::string("not yet"));
    return "127.0.0.1";
  };
  std::string answer;
  std::jthread agent([&] { answer = search(other); });
  EXPECT_EQ(gather(settings(0)), "(no error)");
  agent.join();
  EXPECT_EQ(answer, "accepted");
}

TEST_F(HostDoorTest, APortThatIsTakenIsLeftToItsOwner) {
  zmq::context_t context;
  zmq::socket_t taken(context, zmq::socket_type::router);
  taken.bind("tcp://127.0.0.1:" + std::to_string(ports_.front()));
  std::string answer;
  std::jthread agent([&] { answer = search(settings(1)); });
  EXPECT_EQ(gather(settings(0)), "(no error)");
  agent.join();
  EXPECT_EQ(answer, "accepted");
}

TEST_F(HostDoorTest, AHostThatIsGoneWhileOthersAreMissingEndsTheWait) {
  plan_.hosts = 3;
  std::jthread agent([&] { search(settings(1)); });  // The agent closes its connection as soon as it is accepted.
  EXPECT_THAT(gather(settings(0)), HasSubstr("host 1 (here, 127.0.0.1) joined and is gone"));
}

}  // namespace
}  // namespace trainyard::launch
