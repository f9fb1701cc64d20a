// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/graph.h"
#include "tools/trainyard/graph_svg.h"
#include "tools/trainyard/graph_text.h"
#include "tools/trainyard/planning.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {
namespace {

struct GraphArguments {
  RunChoice run;
  LaunchArguments launch;
  std::string format = "text";
};

Graph running_graph(const RunChoice& choice) {
  zmq::context_t context;
  const visitors::RunInfo run = find_run(choice);
  visitors::RegistryClient registry(context, run.registry);
  return graph_of(run.run, registry.ask("nodes"), registry.ask("topics"));
}

Graph chosen_graph(const GraphArguments& arguments) {
  if (!arguments.launch.file.empty()) return graph_of(plan_from(arguments.launch, *open_catalogue()));
  if (arguments.launch.values.empty()) return running_graph(arguments.run);
  throw Error(Code::kInvalidArgument, "graph: {} is an argument of a launch file; give --file FILE, too",
              arguments.launch.values.front());
}

int draw_graph(const GraphArguments& arguments) {
  const Graph graph = chosen_graph(arguments);
  std::string text;
  if (arguments.format == "text") text = graph_text(graph, terminal_width(), use_colours());
  if (arguments.format == "mermaid") text = graph_mermaid(graph);
  if (arguments.format == "dot") text = graph_dot(graph);
  if (arguments.format == "svg") text = graph_svg(graph);
  if (arguments.format == "json") text = graph_json(graph);
  std::fputs(text.c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_graph(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("graph", "Show who sends what to whom, in a run or a launch file");
  verb->footer(
      "Examples:\n  trainyard graph\n  trainyard graph --format svg > run.svg\n"
      "  trainyard graph --file mnist.toml devices=2 --format mermaid");
  const auto arguments = std::make_shared<GraphArguments>();
  verb->add_option("--file", arguments->launch.file, "a launch file instead of a running launch")->type_name("FILE");
  verb->add_option("ARGUMENT", arguments->launch.values, "NAME=VALUE: an argument of the launch file");
  verb->add_option("--format", arguments->format, "text (default), mermaid, dot, svg or json")
      ->check(CLI::IsMember({"text", "mermaid", "dot", "svg", "json"}))
      ->type_name("FORMAT");
  arguments->run.add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return draw_graph(*arguments); }; });
}

}  // namespace trainyard::tools
