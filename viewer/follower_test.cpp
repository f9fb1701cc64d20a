// SPDX-License-Identifier: Apache-2.0
#include "viewer/follower.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/process/start_ticks.h"
#include "core/testing/temporary_folder.h"
#include "visitors/fake_registry.h"

namespace trainyard::viewer {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// A registry of a run whose processes are still starting. It refuses every question until be_willing() is called.
class UnwillingRegistry {
 public:
  explicit UnwillingRegistry(const std::string& endpoint)
      : registry_(endpoint, [this](const json& question) { return answer(question.at("op")); }) {}

  void be_willing() { willing_ = true; }

 private:
  json answer(const std::string& op) const {
    if (!willing_) return {{"ok", false}, {"error", "not now"}};
    if (op == "run") return {{"ok", true}, {"result", {{"output_directory", "/nowhere"}}}};
    if (op != "topics") return {{"ok", false}, {"error", "unknown"}};
    const json starting = {{"component", "c"}, {"endpoint", ""}};
    return {{"ok", true}, {"result", {{{"topic", "/metrics"}, {"publishers", {starting}}}}}};
  }

  std::atomic<bool> willing_{false};
  visitors::testing::FakeRegistry registry_;
};

template <class Condition>
void wait_for(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(condition()) << "nothing happened for 60 s";
}

TEST(FollowerTest, TriesAgainWhileTheLauncherIsAlive) {
  const trainyard::testing::TemporaryFolder folder;
  const std::string endpoint = "ipc://" + folder.path("registry");
  UnwillingRegistry registry(endpoint);
  const auto book = std::make_shared<Book>(Identity{.run = "r-1", .source = "live"});
  Follower follower(
      {.run = "r-1", .pid = ::getpid(), .start_ticks = core::start_ticks(::getpid()), .registry = endpoint}, book,
      [](const Identity&, const Alert&) {});
  wait_for([&] { return book->read(&Shelves::message) == "not now"; });
  EXPECT_EQ(book->read(&Shelves::phase), RunPhase::kStarting);
  registry.be_willing();
  wait_for([&] { return book->read(&Shelves::message).empty(); });
  EXPECT_EQ(book->read(&Shelves::identity).directory, "/nowhere");
  EXPECT_EQ(book->read(&Shelves::phase), RunPhase::kStarting);
  EXPECT_FALSE(follower.over());
}

}  // namespace
}  // namespace trainyard::viewer
