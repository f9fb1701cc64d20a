// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/files/regular_file.h"
#include "launch/file/toml_reader.h"
#include "launch/file/value.h"
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

using launch::Value;
using nlohmann::json;

struct LoadArguments {
  RunChoice run;
  std::string file;
};

/// A parameter whose value in the file differs from its value in the run.
struct Difference {
  std::string component;
  RunningParameter parameter;
  json wanted;
  launch::Origin origin;

  std::string key() const { return fmt::format("component.{}.params.{}", component, parameter.info.name); }
};

std::string read_text(const std::string& path) {
  constexpr off_t kMaxBytes = 1 << 20;
  const auto size = core::require_regular_file(path).st_size;
  if (size > kMaxBytes) {
    throw Error(Code::kInvalidArgument, "{} has {} bytes; at most {} are allowed", path, size, kMaxBytes);
  }
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Returns the entries of a table. Throws kInvalidArgument if the value is not a table.
const Value::Table& table_of(const Value& value, const std::string& key) {
  const auto* table = value.get_if<Value::Table>();
  if (table != nullptr) return *table;
  throw launch::not_allowed(value, key, "a table");
}

/// Returns the entry `name` of a table. Throws kInvalidArgument if the table has other entries.
const Value::Table& only_entry(const Value& value, const std::string& key, const std::string& name) {
  for (const auto& [other, entry] : table_of(value, key)) {
    if (other == name) continue;
    throw launch::error_at(entry.origin, launch::join_key(key, other),
                           "only tables [component.NAME.params] can be loaded into a run");
  }
  const Value* entry = value.find(name);
  static const Value::Table nothing;
  return entry == nullptr ? nothing : table_of(*entry, launch::join_key(key, name));
}

/// Checks a value against the declaration of its parameter.
Difference checked(const std::string& component, const std::vector<RunningParameter>& known, const std::string& name,
                   const Value& value) {
  Difference difference{component, {}, {}, value.origin};
  std::vector<std::string> names;
  for (const RunningParameter& parameter : known) {
    names.push_back(parameter.info.name);
    if (parameter.info.name == name) difference.parameter = parameter;
  }
  const std::string key = fmt::format("component.{}.params.{}", component, name);
  if (difference.parameter.info.name.empty()) {
    throw launch::error_at(value.origin, key, "unknown parameter" + suggestion(name, names));
  }
  difference.wanted = normalised(difference.parameter.info, launch::to_json(value));
  ParameterInfo located = difference.parameter.info;
  located.name = key;
  try {
    check_value(located, difference.wanted);
  } catch (const Error& error) {
    throw launch::error_at(value.origin, "", error.what(), error.code());
  }
  return difference;
}

/// Returns the parameters that differ between the file and the run. Throws kInvalidArgument for the first mistake in
/// the file, so a file with a mistake changes nothing.
std::vector<Difference> compare(visitors::RegistryClient& registry, const Value& file) {
  const std::vector<std::string> components = configurable_components(registry);
  std::vector<Difference> differences;
  for (const auto& [component, table] : only_entry(file, "", "component")) {
    const std::string key = launch::join_key("component", component);
    if (std::ranges::find(components, component) == components.end()) {
      throw launch::error_at(table.origin, key, "the run has no such component" + suggestion(component, components));
    }
    const std::vector<RunningParameter> known = list_parameters(registry, component);
    for (const auto& [name, value] : only_entry(table, key, "params")) {
      Difference difference = checked(component, known, name, value);
      if (difference.wanted != difference.parameter.value) differences.push_back(std::move(difference));
    }
  }
  return differences;
}

/// Prints to stderr which parameter is not changed, and why.
void report_unchanged(const Difference& difference, const std::string& why) {
  std::fprintf(stderr, "trainyard: %s\n",
               printable(fmt::format("{}: {}: {}; it stays {}", launch::to_text(difference.origin), difference.key(),
                                     why, difference.parameter.value.dump()))
                   .c_str());
}

/// Sets all parameters that can be set. Returns false if some could not be set.
bool set_all(visitors::RegistryClient& registry, const std::vector<Difference>& differences) {
  Table table({"component", "parameter", "before", "now"});
  bool complete = true;
  for (const Difference& difference : differences) {
    const ParameterInfo& info = difference.parameter.info;
    try {
      if (!info.rules.settable) throw Error(Code::kUnsupported, std::string("cannot be changed while the run goes on"));
      const json answer =
          registry.call(difference.component, "param.set", {{"name", info.name}, {"value", difference.wanted}});
      const json now = answer.is_object() ? answer.value("value", json()) : answer;
      table.add({difference.component, info.name, difference.parameter.value.dump(), now.dump()});
    } catch (const Error& error) {
      complete = false;
      report_unchanged(difference, error.what());
    }
  }
  if (!table.empty()) std::fputs(table.text(use_colours(), terminal_width()).c_str(), stdout);
  return complete;
}

int load(const LoadArguments& arguments) {
  const Value file = launch::read_toml(read_text(arguments.file), arguments.file);
  zmq::context_t context;
  visitors::RegistryClient registry(context, find_run(arguments.run).registry);
  const std::vector<Difference> differences = compare(registry, file);
  if (differences.empty()) std::printf("nothing to change: the run has all of these values\n");
  return set_all(registry, differences) ? kExitOk : kExitFailed;
}

}  // namespace

void add_param_load(CLI::App& family, Action& chosen) {
  const auto arguments = std::make_shared<LoadArguments>();
  CLI::App* verb = family.add_subcommand("load", "Set every settable parameter whose value in FILE differs");
  verb->add_option("FILE", arguments->file, "as `trainyard param dump` writes it")->required();
  arguments->run.add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return load(*arguments); }; });
}

}  // namespace trainyard::tools
