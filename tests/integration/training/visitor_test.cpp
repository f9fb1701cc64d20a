// SPDX-License-Identifier: Apache-2.0
// Attaches an external logger to a real training run; suspends, continues and ends the logger; and checks that this
// does not affect training.

#include <gmock/gmock.h>
#include <signal.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <zmq.hpp>

#include "tests/integration/training/training_fixture.h"
#include "visitors/watch.h"

namespace trainyard {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::TrainingTest;

constexpr std::size_t kCompared = 3000;  ///< The number of steps whose losses are compared.
/// More messages than all windows and queues on the way to a visitor can hold.
constexpr std::uint64_t kMany = 1000;

class VisitorTest : public TrainingTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!testing::has_pyzmq()) GTEST_SKIP() << "the external logger needs pyzmq (Debian: python3-zmq)";
  }

  std::unique_ptr<Command> start(const std::string& directory, std::vector<std::string> arguments) {
    arguments.push_back(std::string("placement=") + GetParam());
    return train(directory, std::move(arguments));
  }

  /// Returns the steps that the visitor has printed.
  static std::vector<std::uint64_t> printed(const Command& visitor) {
    std::vector<std::uint64_t> found;
    std::istringstream text(visitor.out());
    for (std::string line; std::getline(text, line);) {
      const auto at = line.find("step ");
      if (at != std::string::npos) found.push_back(std::stoull(line.substr(at + 5)));
    }
    return found;
  }

  /// Stops the visitor by a signal and waits until it no longer runs.
  void stop_by_signal(const Command& visitor) {
    visitor.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return kernel_state_of(visitor.pid()) == 'T'; }));
  }

  /// Prints the times of the steps. The test does not depend on them, because other programs may be using the machine.
  /// `stopped` and `continued` are the times at which the visitor was suspended and continued, in seconds.
  void tell_step_times(double stopped, double continued) {
    const double forever = std::numeric_limits<double>::infinity();
    std::printf("step time, median, %s: alone %.1f us, visitor stopped %.1f us, after it %.1f us\n", GetParam(),
                testing::median_step_us(steps("alone"), 0, forever),
                testing::median_step_us(steps("visited"), stopped, continued),
                testing::median_step_us(steps("visited"), continued, forever));
  }

  static char kernel_state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    const auto bracket = stat.rfind(')');
    return bracket == std::string::npos ? '?' : stat.at(bracket + 2);
  }
};

INSTANTIATE_TEST_SUITE_P(Placements, VisitorTest, ::testing::Values("composed", "processes"));

TEST_P(VisitorTest, LossesStayBitForBitWhileAnExternalLoggerIsStoppedAndContinued) {
  const auto alone = start("alone", {"max_steps=" + std::to_string(kCompared)});
  ASSERT_EQ(alone->wait(), 0) << alone->all();

  const auto training = start("visited", {});
  ASSERT_TRUE(eventually([&] { return sent("/metrics") > 0; })) << training->all();
  const auto visitor = external_logger();
  ASSERT_TRUE(eventually([&] { return !printed(*visitor).empty(); })) << visitor->all() << training->all();

  ASSERT_NO_FATAL_FAILURE(stop_by_signal(*visitor));
  const double stopped = testing::now_s();
  const std::uint64_t steps_before = sent("/metrics");
  EXPECT_TRUE(eventually([&] { return visitors("/metrics")["dropped"] >= kMany; })) << visitors("/metrics");
  EXPECT_TRUE(eventually([&] { return sent("/metrics") >= steps_before + kMany; })) << "training goes on meanwhile";
  const double continued = testing::now_s();
  const auto info = run({"topic", "info", "/metrics"});
  EXPECT_EQ(info->wait(), 0) << info->all();
  EXPECT_THAT(info->out(), HasSubstr("visitor: process ")) << "a person can see the drops, too";

  const std::uint64_t sent_before = visitors("/metrics")["sent"];
  visitor->signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return visitors("/metrics")["sent"] >= sent_before + kMany; }))
      << visitors("/metrics") << visitor->all();
  EXPECT_TRUE(eventually([&] { return printed(*visitor).size() >= kMany; })) << "it hears what is sent from now on";
  EXPECT_LT(printed(*visitor).size(), printed(*visitor).back()) << "what was dropped is missing, and nothing else";

  visitor->signal(SIGINT);
  EXPECT_EQ(visitor->wait(), 0) << visitor->all();
  EXPECT_TRUE(eventually([&] { return visitors("/metrics")["visitors"] == 0; })) << counters();

  EXPECT_TRUE(eventually([&] { return steps("visited").size() >= kCompared; })) << training->all();
  interrupt(*training);
  const auto expected = losses("alone", kCompared);
  ASSERT_EQ(expected.size(), kCompared);
  EXPECT_EQ(losses("visited", kCompared), expected);
  tell_step_times(stopped, continued);
}

TEST_P(VisitorTest, AVisitorThatIsKilledWhileStoppedLeavesNothingBehind) {
  const auto training = start("visited", {});
  ASSERT_TRUE(eventually([&] { return sent("/metrics") > 0; })) << training->all();
  const auto visitor = external_logger();
  ASSERT_TRUE(eventually([&] { return !printed(*visitor).empty(); })) << visitor->all();
  ASSERT_NO_FATAL_FAILURE(stop_by_signal(*visitor));
  ASSERT_TRUE(eventually([&] { return visitors("/metrics")["dropped"] >= kMany; })) << counters();
  visitor->signal(SIGKILL);
  EXPECT_EQ(visitor->wait(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return visitors("/metrics")["visitors"] == 0; })) << counters();
  const std::uint64_t before = sent("/metrics");
  EXPECT_TRUE(eventually([&] { return sent("/metrics") >= before + kMany; })) << "training goes on";
  interrupt(*training);
}

/// Tests visitors that attach when latched messages were sent long before. These tests need no Python.
class LateVisitorTest : public TrainingTest {
 protected:
  void SetUp() override {
    training_ = train("visited", {"placement=processes"});
    ASSERT_TRUE(eventually([&] { return sent("/metrics") > 100; })) << training_->all();
  }

  std::unique_ptr<Command> training_;
};

TEST_F(LateVisitorTest, ReceivesWhatWasSaidOnceAtTheStart) {
  for (const char* topic : {"/model", "/dataset", "/run_state"}) {
    for (int visitor = 0; visitor < 2; ++visitor) {
      const auto echo = run({"topic", "echo", topic, "--count", "1", "--json", "--timeout", "20"});
      EXPECT_EQ(echo->wait(), 0) << topic << echo->all();
      EXPECT_THAT(echo->out(), ::testing::StartsWith("{")) << topic;
    }
  }
  interrupt(*training_);
}

TEST_F(LateVisitorTest, IsToldOfTheEndOfTheRun) {
  zmq::context_t context;
  visitors::Watch watch(context, visitors::find_run(""), {"/metrics"});
  ASSERT_TRUE(watch.next(std::chrono::seconds(20)).has_value());
  EXPECT_FALSE(watch.ended());
  interrupt(*training_);
  EXPECT_TRUE(eventually([&] {
    watch.next(std::chrono::milliseconds(10));
    return watch.ended();
  }));
  EXPECT_FALSE(watch.killed());
}

TEST_F(LateVisitorTest, CanFollowABatchByItsTraceThroughEveryHop) {
  zmq::context_t context;
  std::map<std::string, std::set<std::uint64_t>> traces;
  visitors::Watch watch(context, visitors::find_run(""), {"/batches", "/gradients", "/parameters", "/metrics"});
  const auto in_all = [&] {
    std::size_t found = 0;
    for (const std::uint64_t trace : traces["/batches"]) {
      found += traces["/gradients"].contains(trace) && traces["/parameters"].contains(trace) &&
               traces["/metrics"].contains(trace);
    }
    return found;
  };
  EXPECT_TRUE(eventually([&] {
    for (int taken = 0; taken < 100; ++taken) {
      const auto message = watch.next(std::chrono::milliseconds(1));
      if (!message) break;
      const std::string& topic = message->stream->topic;
      EXPECT_NE(message->header.trace, 0u) << topic;
      EXPECT_TRUE(traces[topic].insert(message->header.trace).second || topic != "/batches") << "one for each batch";
    }
    return in_all() >= 20;
  }));
  interrupt(*training_);
}

TEST_F(LateVisitorTest, SeesEachSubscriberOnceAndTheEndsOfEveryEdge) {
  const auto list = run({"topic", "list"});
  EXPECT_EQ(list->wait(), 0) << list->all();
  EXPECT_THAT(list->out(), HasSubstr("logger"));
  EXPECT_THAT(list->out(), ::testing::Not(HasSubstr("logger, logger")));
  const auto info = run({"topic", "info", "/batches"});
  EXPECT_EQ(info->wait(), 0) << info->all();
  EXPECT_THAT(info->out(), HasSubstr(": data_loader -> accelerator_host, process "));
  interrupt(*training_);
}

}  // namespace
}  // namespace trainyard
