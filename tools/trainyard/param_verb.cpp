// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/param_verbs.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// The arguments that the three verbs have in common.
struct ParamArguments {
  RunChoice run;
  std::string component;
  std::string name;
  std::string value;
  bool as_json = false;
};

/// Calls a method of the component through the launcher, and returns the answer. Throws the component's error if it
/// refuses the request.
json call(const ParamArguments& arguments, const std::string& method, const json& body) {
  zmq::context_t context;
  return visitors::RegistryClient(context, find_run(arguments.run).registry).call(arguments.component, method, body);
}

/// Converts a word of the command line to a value: if it is valid JSON, such as a number, a list or `true`, to the JSON
/// value, otherwise to a string.
json value_from(const std::string& text) {
  // Users can therefore type `cosine` instead of '"cosine"'.
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

/// Prints the parameters. Values are printed as JSON, so that they can be passed to `param set`.
int list(const ParamArguments& arguments) {
  const json parameters = call(arguments, "param.list", json::object());
  if (arguments.as_json) {
    std::printf("%s\n", parameters.dump(2).c_str());
    return kExitOk;
  }
  Table table({"parameter", "value", "unit", "settable", "allowed"});
  for (const json& parameter : parameters) {
    table.add({parameter.value("name", ""), parameter.value("value", json()).dump(), parameter.value("unit", ""),
               parameter.value("settable", false) ? "yes" : "", parameter.value("allowed", "")});
  }
  std::fputs(table.text(use_colours(), terminal_width()).c_str(), stdout);
  return kExitOk;
}

/// Prints the current value.
int show(const json& parameter) {
  std::printf("%s\n",
              parameter.is_object() ? parameter.value("value", json()).dump().c_str() : parameter.dump().c_str());
  return kExitOk;
}

int get(const ParamArguments& arguments) { return show(call(arguments, "param.get", {{"name", arguments.name}})); }

int set(const ParamArguments& arguments) {
  return show(call(arguments, "param.set", {{"name", arguments.name}, {"value", value_from(arguments.value)}}));
}

}  // namespace

void add_param(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("param", "Parameters of a running component")->require_subcommand(1);
  family->footer(
      "Examples:\n  trainyard param list optimizer\n  trainyard param get optimizer lr\n"
      "  trainyard param set optimizer lr 0.0003\n"
      "  trainyard param dump --all --output now.toml\n  trainyard param load tuned.toml\n\n"
      "`param list` shows which parameters can be set while the run is active;\n"
      "set the others in the launch file.");
  const auto arguments = std::make_shared<ParamArguments>();
  // The arguments are shared by pointer, because callbacks run after this function has returned.
  const auto add = [&](const char* name, const char* help, int (*action)(const ParamArguments&)) {
    CLI::App* verb = family->add_subcommand(name, help);
    verb->add_option("COMPONENT", arguments->component, "as `trainyard node list` names it")->required();
    arguments->run.add_to(*verb);
    verb->callback([=, &chosen] { chosen = [=] { return action(*arguments); }; });
    return verb;
  };
  add("list", "All parameters with their values", list)
      ->add_flag("--json", arguments->as_json, "print JSON, for other programs");
  const auto add_name = [&](CLI::App* verb) {
    verb->add_option("NAME", arguments->name, "as `trainyard param list` names it")->required();
    return verb;
  };
  add_name(add("get", "One value", get));
  CLI::App* setter = add_name(add("set", "Change a settable parameter while the run is active", set));
  setter->add_option("VALUE", arguments->value, "JSON, or a string without quotes")->required();
  add_param_describe(*family, chosen);
  add_param_dump(*family, chosen);
  add_param_load(*family, chosen);
}

}  // namespace trainyard::tools
