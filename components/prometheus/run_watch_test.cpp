// SPDX-License-Identifier: Apache-2.0
#include "components/prometheus/run_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "core/testing/temporary_folder.h"
#include "visitors/fake_registry.h"

namespace trainyard::prometheus {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

/// A registry of a run without topics. Its only component is busy for a second between two answers. Every second
/// question about counters is refused.
class BusyRegistry {
 public:
  explicit BusyRegistry(const std::string& endpoint)
      : registry_(endpoint, [this](const json& question) { return answer(question.at("op")); }) {}

  /// Returns the number of questions about counters so far, refused ones included.
  int questions() const { return questions_; }

 private:
  json answer(const std::string& op) {
    if (op == "topics") return {{"ok", true}, {"result", json::array()}};
    if (op == "nodes") return {{"ok", true}, {"result", {{{"component", "c"}, {"process", "main"}}}}};
    const int number = ++questions_;
    if (number % 2 == 0) return {{"ok", false}, {"error", "too many calls"}};
    constexpr std::int64_t kSecond = 1'000'000'000;
    const json activity = {
        {"component", "c"}, {"began_ns", 0}, {"time_ns", 2 * number * kSecond}, {"busy_ns", number * kSecond}};
    return {{"ok", true}, {"result", {{"main", {{"activity", {activity}}}}}}};
  }

  std::atomic<int> questions_{0};
  visitors::testing::FakeRegistry registry_;
};

TEST(RunWatchTest, CountsNothingTwiceAfterTheLauncherHasRefusedToAnswer) {
  const trainyard::testing::TemporaryFolder folder;
  const std::string endpoint = "ipc://" + folder.path("registry");
  const BusyRegistry registry(endpoint);
  RunWatch watch({.run = "r-1", .registry = endpoint}, [](const std::string&) {});
  const auto until = std::chrono::steady_clock::now() + 60s;
  // The fourth question follows the answer to the third, so the scrape contains this answer.
  while (registry.questions() < 4 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
  EXPECT_THAT(watch.scrape(Form::kText), HasSubstr("trainyard_component_busy_seconds_total{component=\"c\"} 3\n"));
}

}  // namespace
}  // namespace trainyard::prometheus
