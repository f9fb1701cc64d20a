// SPDX-License-Identifier: Apache-2.0
// Tests the log of all processes, in the logger's files and for visitors.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using testing::TrainingTest;

class LogTest : public TrainingTest, public ::testing::WithParamInterface<const char*> {
 protected:
  /// Returns the log records in metrics.jsonl.
  std::vector<nlohmann::json> records(const std::string& directory) const {
    std::vector<nlohmann::json> found;
    std::istringstream text(read(directory + "/metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      const auto record = nlohmann::json::parse(line, nullptr, false);
      if (record.is_object() && record.value("kind", "") == "log") found.push_back(record);
    }
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(Placements, LogTest, ::testing::Values("composed", "processes"));

TEST_P(LogTest, RecordsOfAllProcessesReachTheFileOfTheLogger) {
  const auto training = train("out", {"max_steps=200", std::string("placement=") + GetParam()});
  ASSERT_EQ(training->wait(), 0) << training->all();
  std::set<std::string> components;
  std::int64_t ends = 0;
  for (const nlohmann::json& record : records("out")) {
    components.insert(record.at("component"));
    ends += record.at("text").get<std::string>().starts_with("the run is over");
  }
  // The optimizer logs before the first step, the writer and the manager at the very end.
  EXPECT_THAT(components, IsSupersetOf({"strategy_manager", "checkpoint_writer", "optimizer"}));
  EXPECT_EQ(ends, 1) << "every record comes once";
}

TEST_P(LogTest, TheTopicNamesItsReader) {
  const auto training = train("out", {std::string("placement=") + GetParam()});
  ASSERT_TRUE(eventually([&] { return sent("/metrics") > 0; })) << training->all();
  const auto info = run({"topic", "info", "/log"});
  EXPECT_EQ(info->wait(), 0) << info->all();
  EXPECT_THAT(info->out(), HasSubstr("subscriber: logger (process "));
  EXPECT_GT(visitors("/log")["visitors"], 0) << counters();
  interrupt(*training);
}

}  // namespace
}  // namespace trainyard
