// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"
#include "messages/schema.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// Returns the descriptions of all components and external programs from the launcher's registry.
json ask_nodes(const RunChoice& choice) {
  zmq::context_t context;
  return visitors::RegistryClient(context, find_run(choice).registry).ask("nodes");
}

/// Lists the components. If the answer lacks a key, prints an empty cell, because the launcher may have a different
/// version than this command.
int list_nodes(const RunChoice& choice, bool as_json) {
  const json nodes = ask_nodes(choice);
  // The JSON is the whole answer, including ports and services, for which the table has no room.
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

/// Returns the registry's description of the node with this name. Throws kNotFound, with the most similar name, if
/// there is none.
json find_node(visitors::RegistryClient& registry, const std::string& name) {
  std::vector<std::string> known;
  for (const json& node : registry.ask("nodes")) {
    known.push_back(node.value("component", ""));
    if (known.back() == name) return node;
  }
  throw Error(Code::kNotFound, "no component named '{}'{}", name, suggestion(name, known));
}

/// Adds to every port of a node the names of the components with which the port exchanges messages. `ends` is
/// "publishers" for inputs, and "subscribers" for outputs.
void add_peers(json& ports, const json& topics, const char* ends) {
  for (json& port : ports) {
    port["peers"] = json::array();
    for (const json& topic : topics) {
      if (topic.value("topic", "") != port.value("topic", "")) continue;
      for (const json& end : topic.value(ends, json::array())) {
        // The log is published by processes, which are not components.
        const std::string component = end.value("component", "");
        const json peer = component.empty() ? "process " + end.value("process", "") : component;
        if (std::ranges::find(port["peers"], peer) == port["peers"].end()) port["peers"].push_back(peer);
      }
    }
  }
}

/// Adds the parameters of a component, or the reason why they are unknown. External programs have no parameters, and a
/// component may be so busy that it does not answer in time.
void add_parameters(json& node, visitors::RegistryClient& registry) {
  if (node.value("plugin", "").empty()) return;
  try {
    node["parameters"] = registry.call(node.value("component", ""), "param.list");
  } catch (const Error& error) {
    node["parameters"] = error.what();
  }
}

/// Prints a table below a title. If the table is empty, prints only the title.
void print_section(const char* title, const Table& table) {
  std::printf("%s:%s\n", title, table.empty() ? " none" : "");
  if (table.empty()) return;
  std::istringstream lines(table.text(use_colours(), terminal_width() < 2 ? 0 : terminal_width() - 2));
  for (std::string line; std::getline(lines, line);) std::printf("  %s\n", line.c_str());
}

void print_ports(const char* title, const char* direction, const json& ports) {
  Table table({"port", "topic", "type", direction});
  for (const json& port : ports) {
    const auto peers = port.value("peers", std::vector<std::string>());
    table.add({port.value("port", ""), port.value("topic", ""), port.value("type", ""),
               peers.empty() ? "nobody" : fmt::format("{}", fmt::join(peers, ", "))});
  }
  print_section(title, table);
}

void print_parameters(const json& parameters) {
  if (!parameters.is_array()) {
    std::printf("parameters: not known (%s)\n", printable_line(parameters.dump()).c_str());
    return;
  }
  Table table({"parameter", "value", "settable"});
  for (const json& parameter : parameters) {
    table.add({parameter.value("name", ""), parameter.value("value", json()).dump(),
               parameter.value("settable", false) ? "yes" : ""});
  }
  print_section("parameters", table);
}

/// Returns the fields of a request or a reply in one line, such as "string reason, u64 step". The result is empty if
/// the launcher, which may have a different version, does not supply the schema.
std::string fields_of(const std::string& schema_text) {
  if (schema_text.empty()) return "?";
  const Schema schema = parse_schema(schema_text);
  std::vector<std::string> fields;
  for (const Field& field : schema.structs.front().fields) {
    fields.push_back(to_text(field.type) + " " + field.name);
  }
  return fields.empty() ? "nothing" : fmt::format("{}", fmt::join(fields, ", "));
}

void print_services(const json& node) {
  std::map<std::string, json> types;
  for (const json& type : node.value("service_types", json::array())) types[type.value("service", "")] = type;
  Table table({"service", "request", "reply"});
  for (const auto& name : node.value("services", std::vector<std::string>())) {
    const json type = types.contains(name) ? types[name] : json::object();
    table.add({name, fields_of(type.value("request", "")), fields_of(type.value("reply", ""))});
  }
  print_section("services", table);
}

/// Prints one node. Missing keys are left out, because external programs have fewer keys than components.
void print_node(const json& node) {
  for (const char* key : {"component", "plugin", "process", "thread", "state"}) {
    if (node.contains(key)) std::printf("%s: %s\n", key, printable_line(node.value(key, "")).c_str());
  }
  for (const char* key : {"index", "rank"}) {
    if (const json value = node.value(key, json()); !value.is_null())
      std::printf("%s: %s\n", key, value.dump().c_str());
  }
  std::printf("pid: %d\n", node.value("pid", 0));
  if (node.contains("library")) std::printf("plugin file: %s\n", printable_line(node.value("library", "")).c_str());
  print_ports("inputs", "from", node.value("inputs", json::array()));
  print_ports("outputs", "to", node.value("outputs", json::array()));
  print_services(node);
  if (node.contains("parameters")) print_parameters(node["parameters"]);
}

/// Shows one component. With --json, prints everything that the registry knows about it.
int show_node(const RunChoice& choice, const std::string& name, bool as_json) {
  zmq::context_t context;
  visitors::RegistryClient registry(context, find_run(choice).registry);
  json node = find_node(registry, name);
  const json topics = registry.ask("topics");
  add_peers(node["inputs"], topics, "publishers");
  add_peers(node["outputs"], topics, "subscribers");
  add_parameters(node, registry);
  if (as_json) {
    std::printf("%s\n", node.dump(2).c_str());
  } else {
    print_node(node);
  }
  return kExitOk;
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
  list->add_flag("--json", *as_json, "print JSON, for other programs");
  list->callback([=, &chosen] { chosen = [=] { return list_nodes(*choice, *as_json); }; });
  CLI::App* info = family->add_subcommand("info", "Process, topics, peers, services and parameters of one component");
  info->add_option("COMPONENT", *name)->required();
  choice->add_to(*info);
  info->add_flag("--json", *as_json, "print JSON, for other programs");
  info->callback([=, &chosen] { chosen = [=] { return show_node(*choice, *name, *as_json); }; });
}

}  // namespace trainyard::tools
