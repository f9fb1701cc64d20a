// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/param_verbs.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/running_parameters.h"
#include "tools/trainyard/table.h"

namespace trainyard::tools {
namespace {

struct DescribeArguments {
  RunChoice run;
  std::string component;
  std::string name;
};

void print_description(const RunningParameter& parameter) {
  const ParameterInfo& info = parameter.info;
  const bool bold = use_colours();
  std::string text =
      fmt::format("{}{}{} = {}\n", bold ? "\033[1m" : "", info.name, bold ? "\033[0m" : "", parameter.value.dump());
  if (!info.help.empty()) text += fmt::format("  {}\n", info.help);
  text += fmt::format("  allowed: {}\n", describe_allowed(info));
  text += fmt::format("  default: {}\n", info.required ? "none, it must be given" : info.default_json);
  if (info.rules.settable) text += "  can be changed while the run goes on\n";
  // `text` contains names from a plugin. Escape sequences are printed only if this function added them itself.
  std::fputs(bold ? text.c_str() : printable(text).c_str(), stdout);
}

int describe_parameters(const DescribeArguments& arguments) {
  zmq::context_t context;
  visitors::RegistryClient registry(context, find_run(arguments.run).registry);
  const std::vector<RunningParameter> all = list_parameters(registry, arguments.component);
  std::vector<std::string> known;
  for (const RunningParameter& parameter : all) known.push_back(parameter.info.name);
  const auto named = std::ranges::find(known, arguments.name);
  if (!arguments.name.empty() && named == known.end()) {
    throw Error(Code::kNotFound, "component '{}' has no parameter '{}'{}", arguments.component, arguments.name,
                suggestion(arguments.name, known));
  }
  for (const RunningParameter& parameter : all) {
    if (!arguments.name.empty() && parameter.info.name != arguments.name) continue;
    if (&parameter != &all.front() && arguments.name.empty()) std::printf("\n");
    print_description(parameter);
  }
  return kExitOk;
}

}  // namespace

void add_param_describe(CLI::App& family, Action& chosen) {
  const auto arguments = std::make_shared<DescribeArguments>();
  CLI::App* verb = family.add_subcommand("describe", "What parameters mean, and which values are allowed");
  verb->add_option("COMPONENT", arguments->component, "as `trainyard node list` names it")->required();
  verb->add_option("NAME", arguments->name, "only this parameter");
  arguments->run.add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return describe_parameters(*arguments); }; });
}

}  // namespace trainyard::tools
