// SPDX-License-Identifier: Apache-2.0
#include "visitors/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <thread>

#include "core/process/start_ticks.h"
#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"
#include "visitors/fake_gateway.h"
#include "visitors/fake_registry.h"

namespace trainyard::visitors::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using trainyard::testing::error_of;

/// A registry that knows only topics.
class TopicRegistry {
 public:
  explicit TopicRegistry(const std::string& endpoint) : registry_(endpoint, [this](const json&) { return answer(); }) {}

  /// Sets the addresses at which the topic is published. An address is empty while its process is starting.
  void publish(const std::string& topic, const std::vector<std::string>& endpoints) {
    json publishers = json::array();
    for (const std::string& endpoint : endpoints) publishers.push_back({{"component", "c"}, {"endpoint", endpoint}});
    const std::lock_guard lock(mutex_);
    topics_[topic] = {{"topic", topic}, {"publishers", publishers}};
  }

 private:
  json answer() {
    const std::lock_guard lock(mutex_);
    json list = json::array();
    for (const auto& [name, topic] : topics_) list.push_back(topic);
    return {{"ok", true}, {"result", list}};
  }

  std::mutex mutex_;
  std::map<std::string, json> topics_;
  FakeRegistry registry_;
};

class WatchTest : public ::testing::Test {
 protected:
  std::string endpoint(const std::string& name) const { return "ipc://" + folder_.path() + "/" + name; }

  RunInfo run(std::uint64_t later = 0) const {
    return {.run = "r-1",
            .pid = ::getpid(),
            .start_ticks = core::start_ticks(::getpid()) + later,
            .registry = endpoint("registry")};
  }

  /// Starts a process that plays the launcher until end_launcher() is called.
  RunInfo launched_run() {
    launcher_ = ::fork();
    if (launcher_ == 0) {
      ::pause();
      ::_exit(0);
    }
    RunInfo info = run();
    info.pid = launcher_;
    info.start_ticks = core::start_ticks(launcher_);
    return info;
  }
  void end_launcher() {
    ::kill(launcher_, SIGKILL);
    ::waitpid(launcher_, nullptr, 0);
  }

  /// Calls next() of the watch until `done` returns true, or until a deadline. Keeps the messages that arrive.
  template <class Done>
  void pump(Watch& watch, Done done) {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!done() && std::chrono::steady_clock::now() < until) {
      if (auto received = watch.next(10ms)) received_.push_back(std::move(*received));
    }
    EXPECT_TRUE(done()) << "nothing happened for 20 s";
  }

  /// Lets `gateway` accept a subscription. The watch sends the subscription while next() runs.
  void accept(Watch& watch, FakeGateway& gateway) {
    watch.next(200ms);
    gateway.accept();
  }

  pid_t launcher_ = 0;
  zmq::context_t context_;
  trainyard::testing::TemporaryFolder folder_;
  TopicRegistry registry_{endpoint("registry")};
  std::vector<Received> received_;
};

TEST_F(WatchTest, ListensToTheTopicsThatMatch) {
  for (const char* topic : {"/metrics", "/rank0/batches", "/rank1/batches", "/log"}) registry_.publish(topic, {});
  const auto chosen = [&](const std::vector<std::string>& patterns) {
    const Watch watch(context_, run(), patterns);
    std::vector<std::string> names;
    for (const Stream& stream : watch.streams()) names.push_back(stream.topic);
    return names;
  };
  EXPECT_THAT(chosen({"metrics", "/rank*/batches"}),
              ::testing::ElementsAre("/metrics", "/rank0/batches", "/rank1/batches"));
  EXPECT_THAT(chosen({"/log", "/log"}), ::testing::ElementsAre("/log"));
  EXPECT_EQ(chosen({}).size(), 4u);
  EXPECT_THAT(error_of([&] { chosen({"/metric"}); }).second, HasSubstr("no topic '/metric'; did you mean '/metrics'?"));
}

TEST_F(WatchTest, WaitsForAProcessThatIsStillStarting) {
  registry_.publish("/scalars", {""});
  Watch watch(context_, run(), {"/scalars"});
  EXPECT_FALSE(watch.next(100ms));
  EXPECT_FALSE(watch.ended()) << "a publisher that has not come up has not ended";
  FakeGateway gateway(context_, endpoint("late"));
  registry_.publish("/scalars", {endpoint("late")});
  accept(watch, gateway);
  gateway.publish({"loss", 1}, 0);
  pump(watch, [&] { return received_.size() == 1; });
}

TEST_F(WatchTest, FollowsAProcessThatWasStartedAgainElsewhere) {
  std::optional<FakeGateway> gateway(std::in_place, context_, endpoint("first"));
  registry_.publish("/scalars", {endpoint("first")});
  Watch watch(context_, run(), {"/scalars"});
  accept(watch, *gateway);
  gateway->publish({"loss", 1}, 0);
  pump(watch, [&] { return received_.size() == 1; });
  gateway.reset();
  FakeGateway second(context_, endpoint("second"));
  registry_.publish("/scalars", {endpoint("second")});
  std::jthread publisher([&] {
    second.accept();
    second.publish({"loss", 2}, 0);
  });
  pump(watch, [&] { return received_.size() == 2; });
}

TEST_F(WatchTest, FollowsAProcessThatWasStartedAgainAtTheSameAddress) {
  std::optional<FakeGateway> gateway(std::in_place, context_, endpoint("gateway"));
  registry_.publish("/scalars", {endpoint("gateway")});
  Watch watch(context_, run(), {"/scalars"});
  accept(watch, *gateway);
  gateway->publish({"loss", 1}, 0);
  pump(watch, [&] { return received_.size() == 1; });
  // While the process is being started again, its address is unknown.
  registry_.publish("/scalars", {""});
  gateway.reset();
  pump(watch, [&] { return !watch.subscribed(); });
  EXPECT_FALSE(watch.ended());
  gateway.emplace(context_, endpoint("gateway"));
  registry_.publish("/scalars", {endpoint("gateway")});
  std::jthread publisher([&] {
    gateway->accept();
    gateway->publish({"loss", 2}, 0);
  });
  pump(watch, [&] { return received_.size() == 2; });
}

TEST_F(WatchTest, LetsProcessesTakeTurns) {
  FakeGateway busy(context_, endpoint("busy")), calm(context_, endpoint("calm"));
  registry_.publish("/scalars", {endpoint("busy"), endpoint("calm")});
  Watch watch(context_, run(), {"/scalars"});
  accept(watch, busy);
  calm.accept();
  for (std::uint64_t i = 0; i < 100; ++i) busy.publish({"loss", 1}, i, 1);
  calm.publish({"loss", 1}, 0, 2);
  pump(watch, [&] { return received_.size() == 101; });
  const auto of_calm = std::ranges::find(received_, 2u, [](const Received& r) { return r.header.source; });
  EXPECT_LT(of_calm - received_.begin(), 100) << "it did not have to wait for all messages of the other process";
}

TEST_F(WatchTest, EndsWhenEveryPublisherHasSaidSo) {
  FakeGateway gateway(context_, endpoint("gateway"));
  registry_.publish("/scalars", {endpoint("gateway")});
  Watch watch(context_, run(), {"/scalars"});
  accept(watch, gateway);
  gateway.publish({"loss", 1}, 0);
  gateway.send(Ended{});
  pump(watch, [&] { return watch.ended(); });
  EXPECT_EQ(received_.size(), 1u);
  EXPECT_FALSE(watch.killed());
  EXPECT_FALSE(watch.cut_off());
}

TEST_F(WatchTest, TellsAKilledLauncherFromOneThatEndsItsRunAfterACrash) {
  for (const bool crash : {false, true}) {
    std::optional<FakeGateway> gateway(std::in_place, context_, endpoint("gateway"));
    registry_.publish("/scalars", {endpoint("gateway")});
    Watch watch(context_, launched_run(), {"/scalars"});
    accept(watch, *gateway);
    pump(watch, [&] { return watch.subscribed(); });
    if (!crash) end_launcher();
    gateway.reset();
    if (crash) {
      pump(watch, [&] { return watch.lost() == 1; });
      end_launcher();
    }
    pump(watch, [&] { return watch.ended(); });
    EXPECT_TRUE(watch.cut_off());
    EXPECT_EQ(watch.killed(), !crash);
  }
}

TEST_F(WatchTest, EndsWhenTheLauncherHasDied) {
  FakeGateway gateway(context_, endpoint("gateway"));
  registry_.publish("/scalars", {endpoint("gateway")});
  Watch watch(context_, run(1), {"/scalars"});
  pump(watch, [&] { return watch.ended(); });
  EXPECT_TRUE(watch.killed());
}

}  // namespace
}  // namespace trainyard::visitors::testing
