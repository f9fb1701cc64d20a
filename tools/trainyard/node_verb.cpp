// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "messages/error.h"
#include "messages/nearest.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// Returns the registry's description of every component and program.
json ask_nodes(const RunChoice& choice) {
  zmq::context_t context;
  return visitors::RegistryClient(context, find_run(choice).registry).ask("nodes");
}

/// Keys that an answer lacks are shown as empty, because the launcher may have another version than this command.
int list_nodes(const RunChoice& choice, bool as_json) {
  const json nodes = ask_nodes(choice);
  // The JSON is the whole answer, with ports and services, for which the table has no room.
  if (as_json) {
    std::printf("%s\n", nodes.dump(2).c_str());
    return kExitOk;
  }
  Table table({"component", "plugin", "process", "pid", "state"});
  for (const json& node : nodes) {
    table.add({node.value("component", ""), node.value("plugin", ""), node.value("process", ""),
               std::to_string(node.value("pid", 0)), node.value("state", "")});
  }
  std::fputs(table.text(use_colours(), terminal_width()).c_str(), stdout);
  return kExitOk;
}

void print_ports(const char* title, const json& ports) {
  std::printf("%s:\n", title);
  for (const json& port : ports) {
    std::printf("  %-16s %-28s %s\n", port.value("port", "").c_str(), port.value("topic", "").c_str(),
                port.value("type", "").c_str());
  }
}

/// Shows one component. Throws kNotFound, with the nearest name. External programs have fewer keys than components.
int show_node(const RunChoice& choice, const std::string& name) {
  std::vector<std::string> known;
  for (const json& node : ask_nodes(choice)) {
    known.push_back(node.value("component", ""));
    if (known.back() != name) continue;
    std::printf("component: %s\n", name.c_str());
    for (const char* key : {"plugin", "process", "thread", "state"}) {
      if (node.contains(key)) std::printf("%s: %s\n", key, node.value(key, "").c_str());
    }
    std::printf("pid: %d\n", node.value("pid", 0));
    print_ports("inputs", node.value("inputs", json::array()));
    print_ports("outputs", node.value("outputs", json::array()));
    std::printf("services:\n");
    for (const json& service : node.value("services", json::array())) {
      std::printf("  %s\n", service.get<std::string>().c_str());
    }
    return kExitOk;
  }
  throw Error(Code::kNotFound, "no component named '{}'{}", name, suggestion(name, known));
}

}  // namespace

void add_node(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("node", "Components of a running launch")->require_subcommand(1);
  family->footer("Examples:\n  trainyard node list\n  trainyard node info optimizer");
  const auto choice = std::make_shared<RunChoice>();
  const auto name = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* list = family->add_subcommand("list", "All components and external programs, with their states");
  choice->add_to(*list);
  list->add_flag("--json", *as_json, "for programs");
  list->callback([=, &chosen] { chosen = [=] { return list_nodes(*choice, *as_json); }; });
  CLI::App* info = family->add_subcommand("info", "Ports, topics and services of one component");
  info->add_option("COMPONENT", *name)->required();
  choice->add_to(*info);
  info->callback([=, &chosen] { chosen = [=] { return show_node(*choice, *name); }; });
}

}  // namespace trainyard::tools
