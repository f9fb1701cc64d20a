// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/param_verbs.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/running_parameters.h"
#include "tools/trainyard/toml_text.h"

namespace trainyard::tools {
namespace {

struct DumpArguments {
  RunChoice run;
  std::string component;
  bool all = false;
  std::string output;
};

/// Returns the parameters of one component as a table of a launch file.
std::string table_of(const std::string& component, const std::vector<RunningParameter>& parameters) {
  std::string text = fmt::format("\n[component.{}.params]\n", toml_key(component));
  for (const RunningParameter& parameter : parameters) {
    if (parameter.value.is_null()) continue;
    text += fmt::format("{} = {}{}\n", toml_key(parameter.info.name), toml_value(parameter.value),
                        parameter.info.rules.settable ? "  # settable" : "");
  }
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw Error(Code::kIo, "cannot write {}: {}", path, std::strerror(errno));
}

int dump(const DumpArguments& arguments) {
  if (arguments.all != arguments.component.empty()) {
    throw Error(Code::kInvalidArgument, "param dump: name one component, or give --all");
  }
  zmq::context_t context;
  const visitors::RunInfo run = find_run(arguments.run);
  visitors::RegistryClient registry(context, run.registry);
  const std::vector<std::string> components =
      arguments.all ? configurable_components(registry) : std::vector{arguments.component};
  std::string text =
      fmt::format("# Parameters of the run {} ({}).\n", printable_line(run.run), printable_line(run.file));
  for (const std::string& component : components) text += table_of(component, list_parameters(registry, component));
  if (arguments.output.empty()) {
    std::fputs(text.c_str(), stdout);
  } else {
    write_file(arguments.output, text);
  }
  return kExitOk;
}

}  // namespace

void add_param_dump(CLI::App& family, Action& chosen) {
  const auto arguments = std::make_shared<DumpArguments>();
  CLI::App* verb = family.add_subcommand("dump", "Write all values as a part of a launch file (TOML)");
  verb->add_option("COMPONENT", arguments->component, "as `trainyard node list` names it");
  verb->add_flag("--all", arguments->all, "all components");
  verb->add_option("--output", arguments->output, "write to this file")->type_name("FILE");
  arguments->run.add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return dump(*arguments); }; });
}

}  // namespace trainyard::tools
