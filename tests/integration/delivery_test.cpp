// SPDX-License-Identifier: Apache-2.0
// Sends messages from a source to a sink through every kind of edge, and tests what happens when one of them fails.

#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <zmq.hpp>

#include "core/transport/frames.h"
#include "messages/subscription.h"
#include "tests/integration/launch_fixture.h"

namespace trainyard {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::LaunchTest;
using ::testing::Not;

/// Launches the component `ticker`, which sends numbers, together with components or programs that receive them.
class TicksTest : public LaunchTest {
 protected:
  /// Returns a launch file with a ticker that has these parameters, and with `others` after it.
  static std::string ticks(const std::string& parameters, const std::string& others) {
    return "[run]\nname = \"ticks\"\ndirectory = \"out\"\n" + component("ticker", "ticker", parameters) + others;
  }
  static std::string component(const std::string& name, const std::string& plugin, const std::string& parameters = "") {
    return "[component." + name + "]\nplugin = \"" + plugin + "\"\nparams = { " + parameters + " }\n";
  }
  static std::string tally(const std::string& parameters) { return component("tally", "tally", parameters); }

  static constexpr const char* kProcesses = "topology.placement=processes";
  static constexpr const char* kOverTcp = "component.ticker.host=\"127.0.0.1\"";
};

class DeliveryTest : public TicksTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeliveryTest, EverythingArrivesCompleteAndInOrder) {
  const auto command =
      launch(file(ticks("count = 3000, tensor_bytes = 5000", tally("finish_after = 3000")) + GetParam()));
  EXPECT_EQ(command->wait(), 0) << command->all();
  EXPECT_EQ(read("out/tally.count"), "3000") << command->all();
  EXPECT_TRUE(run_directories().empty()) << "nothing of the run is left";
}

INSTANTIATE_TEST_SUITE_P(Placements, DeliveryTest,
                         ::testing::Values("[topology]\nplacement = \"composed\"\n",
                                           "[topology]\nplacement = \"processes\"\n",
                                           "[topology]\nplacement = { one = [\"ticker\"], two = [\"tally\"] }\n"));

TEST_F(TicksTest, TcpCarriesTheSameOverLoopback) {
  const auto command =
      launch(file(ticks("count = 500, tensor_bytes = 5000", tally("finish_after = 500"))), {kProcesses, kOverTcp});
  EXPECT_EQ(command->wait(), 0) << command->all();
  EXPECT_EQ(read("out/tally.count"), "500") << command->all();
}

/// Returns the TCP ports on which a process listens, found in the way that is open to every user of the host.
std::vector<int> listening_ports(pid_t process) {
  std::set<std::string> sockets;
  std::error_code gone;
  for (std::filesystem::directory_iterator each("/proc/" + std::to_string(process) + "/fd", gone), end;
       !gone && each != end; each.increment(gone)) {
    sockets.insert(std::filesystem::read_symlink(each->path(), gone).string());
  }
  std::vector<int> ports;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  for (std::getline(table, line); std::getline(table, line);) {
    std::istringstream fields(line);
    std::string number, local, remote, state, skipped, inode;
    fields >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) fields >> skipped;
    fields >> inode;
    constexpr const char* kListening = "0A";
    if (state == kListening && sockets.contains("socket:[" + inode + "]")) {
      ports.push_back(std::stoi(local.substr(local.find(':') + 1), nullptr, 16));
    }
  }
  return ports;
}

TEST_F(TicksTest, AStrangerWhoKnowsTheNumberOfAnEdgeCannotTakeItOverTcp) {
  const auto command =
      launch(file(ticks("count = 2000, tensor_bytes = 5000, interval_ms = 1", tally("finish_after = 2000"))),
             {kProcesses, kOverTcp});
  std::vector<int> ports;
  ASSERT_TRUE(eventually([&] {
    for (const pid_t process : descendants(command->pid())) {
      for (const int port : listening_ports(process)) ports.push_back(port);
    }
    return !ports.empty() || !command->running();
  }));
  zmq::context_t context;
  zmq::socket_t thief = core::make_socket(context, zmq::socket_type::dealer);
  for (const int port : ports) thief.connect("tcp://127.0.0.1:" + std::to_string(port));
  // The thief tries repeatedly until the run has ended, because the first attempts come before the planned receiver has
  // connected.
  EXPECT_TRUE(eventually([&] {
    for (std::uint32_t edge = 0; edge < 4; ++edge) {
      core::send_control(thief, {}, Subscribe{.topic = "/ticks", .edge = edge, .payloads = "inline"});
    }
    return !command->running();
  })) << command->all();
  EXPECT_EQ(command->wait(), 0) << command->all();
  EXPECT_EQ(read("out/tally.count"), "2000") << command->all();
}

// The component `clerk` doubles a denormal number. The result is 0 only if its thread treats denormal numbers as zero.
TEST_F(TicksTest, DenormalNumbersAreZeroUnlessTheFileSaysOtherwise) {
#if !defined(__x86_64__) && !defined(__aarch64__)
  GTEST_SKIP() << "this processor has no such mode, or it is not known";
#endif
  for (const char* flush : {"true", "false"}) {
    const auto command = launch(file("[run]\nname = \"office\"\ndirectory = \"out\"\n" + component("clerk", "clerk")),
                                {std::string("run.flush_denormals=") + flush});
    std::string answer;
    ASSERT_TRUE(eventually([&] {
      const auto call = run({"service", "call", "clerk", "double", R"({"value": 4e-310})"});
      if (call->wait() == 0) answer = call->out();
      return !answer.empty() || !command->running();
    })) << command->all();
    const double twice = nlohmann::json::parse(answer).at("value");
    EXPECT_EQ(twice, flush == std::string("true") ? 0 : 8e-310);
    command->signal(SIGINT);
    EXPECT_EQ(command->wait(), 130) << command->all();
  }
}

class ThrowTest : public TicksTest, public ::testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(ThrowTest, AComponentThatThrowsIsNamedWithItsMessage) {
  const auto [where, placement] = GetParam();
  const auto command =
      launch(file(ticks("count = 0, interval_ms = 1", component("bad_one", "thrower"))),
             {std::string("component.bad_one.params.where=") + where, std::string("topology.placement=") + placement});
  EXPECT_EQ(command->wait(), 1) << command->all();
  EXPECT_THAT(command->all(), HasSubstr("bad_one"));
  EXPECT_THAT(command->all(), HasSubstr(std::string("thrown in ") + where));
  EXPECT_TRUE(run_directories().empty());
}

INSTANTIATE_TEST_SUITE_P(Places, ThrowTest,
                         ::testing::Combine(::testing::Values("configure", "activate", "handler"),
                                            ::testing::Values("composed", "processes")));

// This happens with ranks when one of them dies: the second failure is reported while the run is already stopping
// because of the first.
TEST_F(TicksTest, ComponentsThatFailTogetherAreNamedAndNobodyElseIs) {
  std::string throwers;
  for (const char* name : {"bad_one", "bad_two", "bad_three"}) throwers += component(name, "thrower");
  const auto command = launch(file(ticks("count = 0, tensor_bytes = 1000", throwers)), {kProcesses});
  EXPECT_EQ(command->wait(), 1) << command->all();
  EXPECT_THAT(command->all(), HasSubstr("thrown in handler"));
  EXPECT_THAT(command->all(), Not(HasSubstr("cannot go from")));
}

TEST_F(TicksTest, AProcessThatCrashesIsNamedAndNothingIsLeft) {
  const auto command = launch(
      file(ticks("count = 0, interval_ms = 1", component("bad_one", "thrower", "by_signal = true"))), {kProcesses});
  EXPECT_EQ(command->wait(), 1) << command->all();
  EXPECT_THAT(command->all(), HasSubstr("bad_one"));
  EXPECT_TRUE(run_directories().empty());
}

/// A launch that runs until it is stopped.
class EndTest : public TicksTest {
 protected:
  void start() {
    const std::string sleeper = "[component.sleeper]\ncommand = [\"sh\", \"-c\", \"sleep 1000 & sleep 1000\"]\n";
    command_ =
        launch(file(ticks("count = 0, interval_ms = 1, tensor_bytes = 100000", tally("strict = false") + sleeper)),
               {kProcesses});
    // The six processes are the launcher, ticker, tally, sh and two sleeps.
    ASSERT_TRUE(eventually([this] { return descendants(command_->pid()).size() >= 6; })) << command_->all();
    ASSERT_TRUE(eventually([this] { return run_directories().size() == 1; }));
    family_ = descendants(command_->pid());
  }
  bool all_gone() const {
    for (const pid_t pid : family_) {
      if (alive(pid)) return false;
    }
    return true;
  }
  std::unique_ptr<Command> command_;
  std::vector<pid_t> family_;
};

TEST_F(TicksTest, AComponentThatNeverReturnsEndsTheRunAndIsNamed) {
  const auto command = launch(file(ticks("count = 0", component("thrower", "thrower", "hangs = true"))),
                              {kProcesses, "run.progress_timeout_s=2"});
  EXPECT_EQ(command->wait(), 1);
  EXPECT_THAT(command->all(),
              ::testing::ContainsRegex("run failed: the run has made no progress for [0-9.]+ s: component "
                                       "'thrower' in process 'thrower' .* has been busy for"));
  EXPECT_TRUE(run_directories().empty());
}

TEST_F(EndTest, ASecondLaunchInTheSameDirectoryIsRefused) {
  ASSERT_NO_FATAL_FAILURE(start());
  const auto second = launch((directory_ / "test.toml").string(), {kProcesses});
  EXPECT_EQ(second->wait(), 2) << second->all();
  EXPECT_THAT(second->all(), HasSubstr("belongs to run '"));
  EXPECT_TRUE(command_->running()) << "the first one is not disturbed";
  ::kill(-command_->pid(), SIGINT);
  EXPECT_EQ(command_->wait(), 130) << command_->all();
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out" / "run.lock"));
}

TEST_F(EndTest, KillingWhatTheUserStartedLeavesNoProcessAndNoDirectory) {
  ASSERT_NO_FATAL_FAILURE(start());
  command_->signal(SIGKILL);
  EXPECT_TRUE(eventually([this] { return all_gone(); }));
  EXPECT_TRUE(eventually([this] { return run_directories().empty(); }));
}

TEST_F(EndTest, KillingTheLauncherItselfLeavesNoProcessAndNoDirectory) {
  ASSERT_NO_FATAL_FAILURE(start());
  ::kill(family_.front(), SIGKILL);
  EXPECT_NE(command_->wait(), 0);
  EXPECT_TRUE(eventually([this] { return all_gone(); }));
  EXPECT_TRUE(run_directories().empty());
}

TEST_F(EndTest, InterruptEndsEverythingInOrder) {
  ASSERT_NO_FATAL_FAILURE(start());
  ::kill(-command_->pid(), SIGINT);
  EXPECT_EQ(command_->wait(), 130) << command_->all();
  EXPECT_TRUE(eventually([this] { return all_gone(); }));
  EXPECT_TRUE(run_directories().empty());
  EXPECT_THAT(read("out/tally.count"), Not(::testing::IsEmpty())) << "it was finalized, not killed";
}

}  // namespace
}  // namespace trainyard
