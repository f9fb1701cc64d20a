// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/plan/child_output.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/graph_svg.h"
#include "tools/trainyard/graph_text.h"
#include "tools/trainyard/testing/command_fixture.h"

namespace trainyard::tools {

using namespace testing;
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Returns the graph of a data loader that sends to two accelerator hosts, which both answer.
Graph two_hosts() {
  return {.title = "demo",
          .nodes = {{"loader", "loader", "main"}, {"rank0/host", "host", "r0"}, {"rank1/host", "host", "r1"}},
          .edges = {{0, 1, "/batches", "block"},
                    {0, 2, "/batches", "block"},
                    {0, 1, "/dataset", "block"},
                    {0, 2, "/dataset", "block"},
                    {1, 0, "/done", "block"},
                    {2, 0, "/done", "block"}}};
}

TEST(GraphTest, GroupsTopicsWithTheSameEnds) {
  const std::vector<TopicGroup> groups = topic_groups(two_hosts());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].topics, (std::vector<std::string>{"/batches", "/dataset"}));
  EXPECT_EQ(groups[0].to, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(groups[1].from, (std::vector<std::size_t>{1, 2}));
}

TEST(GraphTest, ReadsTheRegistrysAnswersAndLeavesOutTheLog) {
  const Graph graph = graph_of("demo", json::parse(R"([
      {"component": "a", "plugin": "x", "process": "p"}, {"component": "viewer", "plugin": "", "process": "viewer"},
      {"component": "b", "plugin": "y", "process": "q"}])"),
                               json::parse(R"([
      {"topic": "/log", "publishers": [{"component": "", "process": "p"}], "subscribers": [{"component": "b"}]},
      {"topic": "/t", "publishers": [{"component": "a"}], "subscribers": [{"component": "b", "policy": "latest"}]},
      {"topic": "/unread", "publishers": [{"component": "a"}], "subscribers": []}])"));
  EXPECT_EQ(graph.nodes.size(), 3u);
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_EQ(graph.edges[0].topic, "/t");
  EXPECT_EQ(graph.edges[0].to, 2u);
  EXPECT_EQ(graph.edges[0].policy, "latest");
}

TEST(GraphTest, WritesAListThatFitsTheTerminal) {
  EXPECT_EQ(graph_text(two_hosts()),
            "process main\n  loader\n    /batches -> rank0/host, rank1/host\n    /dataset -> rank0/host, rank1/host\n"
            "\nprocess r0\n  rank0/host (host)\n    /done    -> loader\n"
            "\nprocess r1\n  rank1/host (host)\n    /done    -> loader\n");
  EXPECT_THAT(graph_text(two_hosts(), 32), HasSubstr("    /batches -> rank0/host,\n                rank1/host\n"));
}

TEST(GraphTest, WritesMermaidDotAndJson) {
  EXPECT_THAT(graph_mermaid(two_hosts()), HasSubstr("  subgraph p1[\"process r0\"]\n    c1[\"rank0/host\"]\n  end\n"));
  EXPECT_THAT(graph_mermaid(two_hosts()), HasSubstr("  c0 -- \"/batches<br>/dataset\" --> c1\n"));
  EXPECT_THAT(graph_dot(two_hosts()), HasSubstr("  c0 -> c2 [label=\"/batches\\n/dataset\"]\n"));
  const json all = json::parse(graph_json(two_hosts()));
  EXPECT_EQ(all["edges"][4],
            json::parse(R"({"from": "rank0/host", "to": "loader", "topic": "/done", "policy": "block"})"));
}

TEST(GraphTest, EscapesNamesThatAreNoNames) {
  Graph graph = two_hosts();
  graph.nodes[0].name = "a\"<b>&\033\\";
  EXPECT_THAT(graph_dot(graph), HasSubstr("label=\"a\\\"<b>&?\\\\\""));
  EXPECT_THAT(graph_mermaid(graph), HasSubstr("c0[\"a#quot;&lt;b>&amp;?\\\"]"));
  EXPECT_THAT(graph_svg(graph), HasSubstr(">a\"&lt;b>&amp;?\\</text>"));
}

TEST(GraphTest, DrawsAPictureThatAnXmlParserReads) {
  const TemporaryFolder folder;
  const std::string path = folder.write("graph.svg", graph_svg(two_hosts()));
  const char* check =
      "import sys, xml.etree.ElementTree as tree\n"
      "svg = '{http://www.w3.org/2000/svg}'\n"
      "root = tree.parse(sys.argv[1]).getroot()\n"
      "assert root.tag == svg + 'svg', root.tag\n"
      "texts = [text.text for text in root.iter(svg + 'text')]\n"
      "assert {'loader', 'rank0/host', 'rank1/host', '/batches', '/dataset', '/done'} <= set(texts), texts\n"
      "heads = [path for path in root.iter(svg + 'path') if path.get('marker-end')]\n"
      "assert len(heads) == 3, len(heads)\n";
  const launch::ChildOutput output = launch::run_child({"python3", "-c", check, path}, std::chrono::seconds(60));
  EXPECT_TRUE(output.succeeded()) << output.errors;
}

class GraphCommandTest : public CommandOnFakeRun {};

TEST_F(GraphCommandTest, ShowsARunningLaunch) {
  run_.answer("nodes", json::parse(R"([{"component": "talker", "plugin": "talker", "process": "main"}])"));
  run_.start();
  EXPECT_EQ(command({"graph"}), kExitOk) << err_;
  EXPECT_EQ(out_, "process main\n  talker\n");
  EXPECT_EQ(command({"graph", "--format", "jsn"}), kExitUsage);
  EXPECT_EQ(command({"graph", "devices=2"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("devices=2 is an argument of a launch file; give --file FILE, too"));
}

TEST_F(GraphCommandTest, ShowsALaunchFile) {
  EXPECT_EQ(command({"graph", "--file", "mlp.toml", "devices=2"}), kExitOk) << err_;
  EXPECT_THAT(out_, HasSubstr("  rank1/optimizer (optimizer)\n"));
  EXPECT_THAT(out_, HasSubstr("    /rank0/batches         -> rank0/accelerator_host\n"));
  EXPECT_EQ(command({"graph", "--file", "mlp.toml", "--format", "svg"}), kExitOk) << err_;
  EXPECT_THAT(out_, HasSubstr("</svg>"));
  EXPECT_EQ(command({"graph", "--file", "nothing.toml"}), kExitUsage);
}

}  // namespace
}  // namespace trainyard::tools
