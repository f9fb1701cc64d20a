// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <sstream>

#include "launch/testing/plan_fixture.h"

namespace trainyard::launch {
namespace {

class DescribeTest : public testing::PlanFixture {
 protected:
  /// Returns a plan with two components and an external program, whose description is short enough to be compared as a
  /// whole.
  Plan small_plan() {
    core::PluginInfo& source = catalogue_.add("component", "source");
    source.outputs = {testing::port("metrics", "Metrics", "/metrics")};
    Plan plan = this->plan(R"([component]
logger = { plugin = "logger", params = { csv = false }, cpus = [0, 1] }
source = { plugin = "source", environment = { A = "b" } }
echo = { command = ["cat", "-u"], respawn = "always", required = false, params = { x = { y = 1 } } }
)");
    plan.file = "a.toml";
    return plan;
  }
};

TEST_F(DescribeTest, ShowsTheWholePlan) {
  EXPECT_EQ(describe(small_plan()), R"(run        a
file       a.toml
output     runs/a
seed       1
ranks      1
log level  info
deadlines  start 30 s, stop 10 s, progress 300 s

process main
  A=b
  thread logger
    logger, cpus 0 1
      csv = false
  thread main
    source

process echo, respawn always (1000 ms apart, 3 within 60 s), not required
  cat -u
      x.y = 1

1 edges
  /metrics: source.metrics -> logger.metrics
      process, drop_oldest, 64 messages, 256 MiB

activation
  logger, source
)");
}

TEST_F(DescribeTest, StaysWithin80Columns) {
  const Plan plan =
      plan_six("[run]\ndirectory = '/" + std::string(300, 'x') + "'",
               {"placement=processes", "devices=3",
                "component.accelerator_host.params.model={plugin="
                "'mlp', hidden=[1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000,1000]}"});
  std::istringstream lines(describe(plan));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(DescribeTest, TheJsonCanHideWhatTheEnvironmentContains) {
  const std::string shown = to_json(small_plan());
  const std::string hidden = to_json(small_plan(), EnvironmentValues::kHidden);
  EXPECT_EQ(nlohmann::json::parse(shown).at("processes").at(0).at("environment").dump(), R"({"A":"b"})");
  EXPECT_EQ(nlohmann::json::parse(hidden).at("processes").at(0).at("environment").dump(), R"({"A":null})");
}

TEST_F(DescribeTest, TheJsonHoldsTheSame) {
  const auto json = nlohmann::json::parse(to_json(small_plan()));
  EXPECT_EQ(json.at("run"), "a");
  EXPECT_EQ(json.at("components").at(0).at("name"), "logger");
  EXPECT_EQ(json.at("components").at(0).at("parameters").at("csv"), false);
  EXPECT_EQ(json.at("components").at(0).at("cpus"), nlohmann::json::parse("[0,1]"));
  EXPECT_EQ(json.at("edges").at(0).at("from"), "source");
  EXPECT_EQ(json.at("edges").at(0).at("policy"), "drop_oldest");
  EXPECT_EQ(json.at("activation"), nlohmann::json::parse(R"(["logger","source"])"));
  EXPECT_EQ(json.at("processes").at(1).at("respawn").at("policy"), "always");
  EXPECT_EQ(json.at("processes").at(1).at("parameters").at("x").at("y"), 1);
}

}  // namespace
}  // namespace trainyard::launch
