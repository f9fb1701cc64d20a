// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/running_parameters.h"

#include <algorithm>

#include "messages/component_name.h"
#include "messages/error.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// Returns the kind of value with this name, the inverse of name_of(ValueKind).
ValueKind kind_named(const std::string& name) {
  for (int number = 0; number <= static_cast<int>(ValueKind::kPlugins); ++number) {
    if (name_of(static_cast<ValueKind>(number)) == name) return static_cast<ValueKind>(number);
  }
  return ValueKind::kAny;
}

RunningParameter read_parameter(const json& answer) {
  json declaration = answer;
  declaration["kind"] = static_cast<int>(kind_named(answer.at("kind")));
  declaration["default"] = answer.at("default").is_null() ? "" : answer.at("default").dump();
  return {parameter_info_from_json(declaration), answer.at("value")};
}

json normalised_plugin(const json& value) { return value.is_string() ? json{{"plugin", value}} : value; }

}  // namespace

std::vector<RunningParameter> list_parameters(visitors::RegistryClient& registry, const std::string& component) {
  std::vector<RunningParameter> all;
  try {
    for (const json& answer : registry.call(component, "param.list")) all.push_back(read_parameter(answer));
  } catch (const json::exception& error) {
    throw Error(Code::kCorrupt, "component '{}' does not list its parameters as expected: {}", component, error.what());
  }
  return all;
}

std::vector<std::string> configurable_components(visitors::RegistryClient& registry) {
  std::vector<std::string> names;
  for (const json& node : registry.ask("nodes")) {
    if (node.value("plugin", "").empty()) continue;
    // A component that exists only once has no rank.
    const json rank = node.value("rank", json());
    const std::string full_name = node.value("component", "");
    const std::string name = rank.is_number_unsigned() ? without_rank(full_name, rank.get<std::uint32_t>()) : full_name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

json normalised(const ParameterInfo& info, const json& value) {
  if (info.kind == ValueKind::kPlugin) return normalised_plugin(value);
  if (info.kind != ValueKind::kPlugins || !value.is_array()) return value;
  json list = json::array();
  for (const json& element : value) list.push_back(normalised_plugin(element));
  return list;
}

}  // namespace trainyard::tools
