// SPDX-License-Identifier: Apache-2.0
#include "viewer/graph.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "visitors/run_observer.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using visitors::Observation;
using visitors::ObservedNode;

/// Returns a component that was busy for a quarter of the interval, and waited for the optimizer for half of it.
ObservedNode node(const std::string& name, const std::string& process, double seconds) {
  ObservedNode node{.name = name, .plugin = name, .process = process, .state = "active", .rank = 0, .shares = {}};
  node.shares.emplace();
  node.shares->seconds = seconds;
  node.shares->busy = 0.25;
  node.shares->waiting = {{"optimizer", "message", 0.5}};
  return node;
}

TEST(GraphTest, SaysWhoIsBusyAndWhoWaitsForWhom) {
  Observation observation;
  observation.nodes = {node("host", "main", 1)};
  observation.bottlenecks = {{"host", 0.25}};
  const json graph = graph_of(observation, 7);
  EXPECT_EQ(graph["time_ns"], 7);
  EXPECT_EQ(graph["components"][0]["busy"], 0.25);
  EXPECT_EQ(graph["components"][0]["waiting"],
            json::parse(R"([{"for": "optimizer", "kind": "message", "share": 0.5}])"));
  EXPECT_EQ(graph["bottlenecks"], json::parse(R"([{"component": "host", "share": 0.25}])"));
}

TEST(GraphTest, KnowsNoSharesAndNoBottleneckOfATimeThatIsTooShort) {
  Observation observation;
  observation.nodes = {node("host", "main", 0.001)};
  observation.bottlenecks = {{"host", 0.25}};
  const json graph = graph_of(observation, 0);
  EXPECT_TRUE(graph["components"][0]["busy"].is_null());
  EXPECT_TRUE(graph["components"][0]["waiting"].is_null());
  EXPECT_TRUE(graph["bottlenecks"].is_null());
}

TEST(GraphTest, GivesAComponentTheNumbersOfAProcessThatItDoesNotShare) {
  Observation observation;
  observation.nodes = {node("host", "alone", 1), node("logger", "main", 1), node("loader", "main", 1)};
  observation.processes = {{.name = "alone", .pid = 3, .cpu = 1.5, .memory_bytes = 100},
                           {.name = "main", .pid = 4, .cpu = 0.5, .memory_bytes = 200}};
  const json graph = graph_of(observation, 0);
  EXPECT_EQ(graph["components"][0]["cpu_percent"], 150);
  EXPECT_EQ(graph["components"][0]["memory_bytes"], 100);
  EXPECT_TRUE(graph["components"][1]["cpu_percent"].is_null());
  EXPECT_EQ(graph["processes"][1]["cpu_percent"], 50);
}

TEST(GraphTest, ShowsWhatIsNotKnownAsNull) {
  Observation observation;
  observation.nodes = {{.name = "dashboard", .process = "dashboard", .state = "running", .rank = {}, .shares = {}}};
  observation.edges = {{.topic = "/metrics", .messages_per_s = {}, .bytes_per_s = {}, .under_way = {}}};
  const json graph = graph_of(observation, 0);
  for (const char* key : {"rank", "cpu_percent", "memory_bytes", "busy", "waiting"}) {
    EXPECT_TRUE(graph["components"][0][key].is_null()) << key;
  }
  for (const char* key : {"rate_hz", "bytes_per_s", "queued", "window"}) {
    EXPECT_TRUE(graph["edges"][0][key].is_null()) << key;
  }
}

TEST(GraphTest, ARunThatIsOverHasItsComponentsAndTotalsAndDoesNothing) {
  Observation observation;
  observation.nodes = {node("host", "main", 1)};
  observation.bottlenecks = {{"host", 0.25}};
  observation.processes = {{.name = "main", .pid = 3, .cpu = 1.5, .memory_bytes = 100}};
  observation.edges = {{.topic = "/metrics", .messages_per_s = 3.0, .bytes_per_s = 4.0, .under_way = 1, .dropped = 5}};
  const json graph = graph_at_rest(graph_of(observation, 0));
  EXPECT_EQ(graph["components"][0]["name"], "host");
  for (const char* key : {"pid", "cpu_percent", "memory_bytes", "busy", "waiting"}) {
    EXPECT_TRUE(graph["components"][0][key].is_null()) << key;
  }
  EXPECT_TRUE(graph["edges"][0]["rate_hz"].is_null());
  EXPECT_EQ(graph["edges"][0]["dropped"], 5);
  EXPECT_EQ(graph["processes"], json::array());
  EXPECT_TRUE(graph["bottlenecks"].is_null());
}

}  // namespace
}  // namespace trainyard::viewer
