// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/nearest.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/planning.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {

// `plugin list` and `plugin info` read plugin files and their descriptions. They do not need a run.

namespace {

/// The arguments of `plugin list` and `plugin info`. An empty kind means all kinds.
struct PluginArguments {
  std::string kind;
  std::string name;
  bool as_json = false;
};

/// Converts the plural of a kind of plugin to the singular, so that users can type "strategies" for "strategy".
std::string singular(const std::string& kind) {
  if (kind.ends_with("ies")) return kind.substr(0, kind.size() - 3) + "y";
  return kind.ends_with('s') ? kind.substr(0, kind.size() - 1) : kind;
}

nlohmann::json to_json(const core::PluginLoader::Found& found) {
  const PluginLabel& label = found.label;
  return {{"kind", label.kind},
          {"name", label.name},
          {"version", label.version},
          {"description", label.description},
          {"path", found.path}};
}

void show(const Table& table, const nlohmann::json& json, bool as_json) {
  std::fputs(as_json ? (json.dump(2) + "\n").c_str() : table.text(use_colours(), terminal_width()).c_str(), stdout);
}

/// Returns the current report of an accelerator, which a child process determines. If the accelerator fails, the report
/// contains the reason, so the list shows it like the others.
AcceleratorReport report_now(launch::Catalogue& catalogue, const std::string& name) {
  try {
    return catalogue.traits<AcceleratorReport>(name, "{}", /*anew=*/true);
  } catch (const Error& error) {
    return {.devices = 0, .problem = error.what(), .traits = {}};
  }
}

/// Lists the accelerators, and whether their hardware is available.
int list_accelerators(const std::vector<core::PluginLoader::Found>& accelerators, bool as_json) {
  const auto catalogue = open_catalogue();
  Table table({"name", "available", "devices", "version", "description"});
  nlohmann::json json = nlohmann::json::array();
  for (const core::PluginLoader::Found& found : accelerators) {
    const AcceleratorReport report = report_now(*catalogue, found.label.name);
    const std::string why = report.problem.empty() ? "" : ": " + report.problem;
    table.add({found.label.name, report.available() ? "yes" : "no" + why, std::to_string(report.devices),
               found.label.version, found.label.description});
    json.push_back(to_json(found));
    json.back().update({{"available", report.available()}, {"devices", report.devices}});
    if (!report.problem.empty()) json.back()["problem"] = report.problem;
  }
  show(table, json, as_json);
  return kExitOk;
}

/// Lists plugins. Except for accelerators, only the labels in the files are read and no code of a plugin runs, so
/// plugins that this version of Trainyard cannot load are listed as well.
int list(const PluginArguments& arguments) {
  const std::string wanted = singular(arguments.kind);
  std::vector<std::string> kinds;
  std::vector<core::PluginLoader::Found> matching;
  for (core::PluginLoader::Found& found : core::PluginLoader(core::PluginLoader::default_directories()).list()) {
    if (std::ranges::find(kinds, found.label.kind) == kinds.end()) kinds.push_back(found.label.kind);
    if (wanted.empty() || found.label.kind == wanted) matching.push_back(std::move(found));
  }
  // If the user has given a kind that no plugin has, it is most likely misspelt. Without a kind, an empty list is a
  // valid answer.
  if (matching.empty() && !wanted.empty()) {
    throw Error(Code::kNotFound, "no plugin of kind '{}'{}", arguments.kind, suggestion(wanted, kinds));
  }
  if (wanted == "accelerator") return list_accelerators(matching, arguments.as_json);
  Table table({"kind", "name", "version", "description"});
  nlohmann::json json = nlohmann::json::array();
  for (const core::PluginLoader::Found& found : matching) {
    table.add({found.label.kind, found.label.name, found.label.version, found.label.description});
    json.push_back(to_json(found));
  }
  show(table, json, arguments.as_json);
  return kExitOk;
}

/// Prints the parameters of a plugin. Each parameter takes two lines, because one line would be too long for a
/// terminal. The default is printed as JSON, so that "0" and 0 can be distinguished.
void print_parameters(const std::vector<ParameterInfo>& parameters) {
  if (parameters.empty()) return;
  std::printf("\nparameters\n");
  for (const ParameterInfo& parameter : parameters) {
    const std::string value = parameter.required ? "(required)" : "= " + parameter.default_json;
    std::printf("  %s %s  %s%s\n      %s\n", parameter.name.c_str(), value.c_str(), describe_allowed(parameter).c_str(),
                parameter.rules.settable ? "; settable while it runs" : "", parameter.help.c_str());
  }
}

void print_ports(const char* title, const std::vector<core::PortInfo>& ports) {
  if (ports.empty()) return;
  std::printf("\n%s\n", title);
  Table table({"  name", "topic", "type", "policy", "meaning"});
  for (const core::PortInfo& port : ports) {
    table.add({"  " + port.name, port.topic.empty() ? port.name : port.topic, port.type,
               std::string(name_of(port.policy)) + (port.optional ? ", optional" : "") +
                   (port.every_rank ? ", every rank" : "") + (port.same_loop ? ", same loop" : ""),
               port.help});
  }
  std::fputs(table.text(false, terminal_width()).c_str(), stdout);
}

/// Returns the value of a trait as text. Lists have no brackets; an empty list is shown as "any", which is its meaning
/// in traits.
std::string trait_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const nlohmann::json& element : value) text += (text.empty() ? "" : ", ") + trait_text(element);
  return text.empty() ? "any" : text;
}

/// Prints each trait on a separate line. The members of a nested struct are printed without the name of the struct.
void print_traits(const nlohmann::json& traits) {
  if (!traits.is_object()) return;
  for (const auto& [name, value] : traits.items()) {
    if (value.is_object()) {
      print_traits(value);
    } else if (value != "") {
      std::printf("%s: %s\n", name.c_str(), trait_text(value).c_str());
    }
  }
}

/// Prints the description of a plugin, all of which comes from the plugin's own declaration.
void print(const core::PluginInfo& plugin) {
  std::printf("%s %s, version %s\n%s\n", plugin.label.kind.c_str(), plugin.label.name.c_str(),
              plugin.label.version.c_str(), plugin.label.description.c_str());
  std::printf("file: %s\nabi: %s\n", plugin.path.c_str(), plugin.label.abi_tag.c_str());
  print_traits(to_json(plugin.traits));
  print_parameters(plugin.parameters);
  print_ports("inputs", plugin.inputs);
  print_ports("outputs", plugin.outputs);
  if (!plugin.services.empty()) std::printf("\nservices\n");
  for (const core::ServiceInfo& service : plugin.services) {
    std::printf("  %s: %s\n", service.name.c_str(), service.help.c_str());
  }
}

/// Shows one plugin. Names are unique only within a kind, so users can write KIND/NAME.
int info(const PluginArguments& arguments) {
  const auto catalogue = open_catalogue();
  // If no kind is given, the first match in the list, which is sorted by kind, is shown.
  const std::size_t slash = arguments.name.find('/');
  const std::string kind = slash == std::string::npos ? "" : singular(arguments.name.substr(0, slash));
  const std::string name = slash == std::string::npos ? arguments.name : arguments.name.substr(slash + 1);
  std::vector<std::string> known, found;
  for (const PluginLabel& label : catalogue->list()) {
    known.push_back(label.name);
    if (label.name == name && (kind.empty() || label.kind == kind)) found.push_back(label.kind);
  }
  if (found.empty()) throw Error(Code::kNotFound, "no plugin named '{}'{}", arguments.name, suggestion(name, known));
  // The cache is not used, because facts such as the number of devices may have changed.
  const core::PluginInfo& plugin = catalogue->refresh(found.front(), name);
  if (arguments.as_json) {
    std::printf("%s\n", to_json(plugin).dump(2).c_str());
  } else {
    print(plugin);
  }
  for (auto other = found.begin() + 1; other != found.end(); ++other) {
    fmt::print(stderr, "trainyard: there is also `trainyard plugin info {}/{}`\n", *other, name);
  }
  return kExitOk;
}

}  // namespace

void add_plugin(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("plugin", "Plugins that are installed on this machine")->require_subcommand(1);
  family->footer(
      "Examples:\n  trainyard plugin list accelerators\n  trainyard plugin info optimizer\n"
      "  TRAINYARD_PLUGIN_PATH=/my/plugins trainyard plugin list");
  const auto arguments = std::make_shared<PluginArguments>();
  CLI::App* lister = family->add_subcommand("list", "List the plugins of all kinds, or of one kind");
  lister->add_option(
      "KIND", arguments->kind,
      "components, models, datasets, transforms, strategies,\naccelerators, collectives or environments");
  lister->add_flag("--json", arguments->as_json, "print JSON, for other programs");
  lister->callback([=, &chosen] { chosen = [=] { return list(*arguments); }; });
  CLI::App* shower = family->add_subcommand("info", "Show the parameters, ports and services of one plugin");
  shower->add_option("NAME", arguments->name, "such as optimizer, or with the kind: model/gpt")->required();
  shower->add_flag("--json", arguments->as_json, "print JSON, for other programs");
  shower->callback([=, &chosen] { chosen = [=] { return info(*arguments); }; });
}

}  // namespace trainyard::tools
