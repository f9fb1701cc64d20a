// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/parameter_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "messages/nearest.h"

namespace trainyard::launch {

// Every plugin checks its parameters when it is constructed (core/config). The planner makes the same check earlier, so
// that errors contain the position in the file. It uses the declarations of the catalogue, so no plugin has to be
// loaded.

namespace {

/// The largest depth of plugins within plugins. It stops the recursion if a parameter of a plugin names the same plugin
/// by default.
constexpr int kMaxDepth = 16;

/// Returns the name of the plugin in a value of the form "name" or { plugin = "name", ... }, or an empty text if there
/// is none.
std::string plugin_name(const Value& value) {
  const Value* inner = value.find("plugin");
  const auto* name = (inner == nullptr ? value : *inner).get_if<std::string>();
  return name == nullptr ? "" : *name;
}

/// Returns the value that contains the name of the plugin, with its key.
GivenParameter name_of_plugin(const GivenParameter& given) {
  const Value* inner = given.value.find("plugin");
  return inner == nullptr ? given : GivenParameter{*inner, join_key(given.key, "plugin")};
}

/// Returns the parameters of the inner plugin: its whole table except the name.
Given parameters_of(const GivenParameter& given) {
  Given out;
  const auto* table = given.value.get_if<Value::Table>();
  if (table == nullptr) return out;
  for (const auto& [name, value] : *table) {
    if (name != "plugin") out[name] = {value, join_key(given.key, name)};
  }
  return out;
}

}  // namespace

void ParameterCheck::check(const std::vector<ParameterInfo>& declared, const Given& given, const Origin& where,
                           const std::string& key, int depth) {
  if (depth > kMaxDepth) throw error_at(where, key, fmt::format("plugins are nested more than {} deep", kMaxDepth));
  // Unknown names are reported first, so that a misspelt name of a required parameter is reported as unknown and not as
  // missing.
  for (const auto& [name, parameter] : given) {
    if (std::ranges::find(declared, name, &ParameterInfo::name) != declared.end()) continue;
    std::vector<std::string> known;
    for (const ParameterInfo& info : declared) known.push_back(info.name);
    throw error_at(parameter.value.origin, parameter.key, "unknown parameter" + suggestion(name, known));
  }
  for (const ParameterInfo& info : declared) {
    const auto found = given.find(info.name);
    if (found == given.end()) {
      check_missing(info, where, join_key(key, info.name), depth);
    } else {
      check_one(info, found->second, depth);
    }
  }
}

void ParameterCheck::check_one(const ParameterInfo& info, const GivenParameter& given, int depth) {
  ParameterInfo located = info;
  // The error contains the key in the file instead of the parameter's name in the declaration.
  located.name = given.key;  // The text of the error begins with this name.
  try {
    check_value(located, to_json(given.value));
  } catch (const Error& error) {
    throw error_at(given.value.origin, "", error.what(), error.code());
  }
  if (info.kind == ValueKind::kPlugin) check_plugin(info.rules.plugin_kind, given, depth);
  if (info.kind == ValueKind::kPlugins) check_plugins(info.rules.plugin_kind, given, depth);
}

/// Checks the plugins of a parameter that names one plugin or a list of plugins. In errors, entry i of a list is called
/// "transforms[i]", for example.
void ParameterCheck::check_plugins(const std::string& kind, const GivenParameter& given, int depth) {
  const auto* list = given.value.get_if<Value::List>();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    check_plugin(kind, {(*list)[i], fmt::format("{}[{}]", given.key, i)}, depth);
  }
}

void ParameterCheck::check_missing(const ParameterInfo& info, const Origin& where, const std::string& key, int depth) {
  if (info.required) throw error_at(where, key, fmt::format("must be given; {}", describe_allowed(info)));
  if (info.kind != ValueKind::kPlugin || info.default_json.empty()) return;
  // The plugin that the default names may have a required parameter.
  const std::string name = nlohmann::json::parse(info.default_json).value("plugin", "");
  check_plugin(info.rules.plugin_kind, {Value{name, where}, key}, depth);
}

void ParameterCheck::check_plugin(const std::string& kind, const GivenParameter& given, int depth) {
  const std::string name = plugin_name(given.value);
  const GivenParameter place = name_of_plugin(given);
  if (place.value.get_if<std::string>() == nullptr) throw not_allowed(place.value, place.key, "the name of a " + kind);
  if (name.empty() || name == "auto") return;  // Either no plugin is named, or the component chooses one itself.
  const core::PluginInfo* info = nullptr;
  try {
    info = &catalogue_.info(kind, name);
  } catch (const Error& error) {
    throw error_at(place.value.origin, place.key, error.what(), error.code());
  }
  check(info->parameters, parameters_of(given), given.value.origin, given.key, depth + 1);
}

}  // namespace trainyard::launch
