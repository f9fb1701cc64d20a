// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/parameter_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "messages/nearest.h"

namespace trainyard::launch {

// This is the same check as in the component itself (core/config), done before anything runs and with the place in the
// file in the message. The declarations come from the catalogue, so no plugin is loaded for it.

namespace {

/// The limit of depth, for a plugin whose parameter names the plugin itself by default, which would never end.
constexpr int kMaxDepth = 16;

/// Returns the plugin's name in `"text"` or in `{ plugin = "text", ... }`; empty if there is none.
std::string plugin_name(const Value& value) {
  const Value* inner = value.find("plugin");
  const auto* name = (inner == nullptr ? value : *inner).get_if<std::string>();
  return name == nullptr ? "" : *name;
}

/// Returns the value that holds the plugin's name, with its key.
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
  // Unknown names come first, because a misspelt required parameter is better called unknown than missing.
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
  // The declaration knows the parameter's name, but the user knows the key that he wrote.
  located.name = given.key;  // The message begins with it.
  try {
    check_value(located, to_json(given.value));
  } catch (const Error& error) {
    throw error_at(given.value.origin, "", error.what(), error.code());
  }
  if (info.kind == ValueKind::kPlugin) check_plugin(info.rules.plugin_kind, given, depth);
  if (info.kind == ValueKind::kPlugins) check_plugins(info.rules.plugin_kind, given, depth);
}

/// Entry i of a list is called "transforms[i]".
void ParameterCheck::check_plugins(const std::string& kind, const GivenParameter& given, int depth) {
  const auto* list = given.value.get_if<Value::List>();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    check_plugin(kind, {(*list)[i], fmt::format("{}[{}]", given.key, i)}, depth);
  }
}

void ParameterCheck::check_missing(const ParameterInfo& info, const Origin& where, const std::string& key, int depth) {
  if (info.required) throw error_at(where, key, fmt::format("must be given; {}", describe_allowed(info)));
  if (info.kind != ValueKind::kPlugin || info.default_json.empty()) return;
  // The default names a plugin, too, and that plugin may need a value.
  const std::string name = nlohmann::json::parse(info.default_json).value("plugin", "");
  check_plugin(info.rules.plugin_kind, {Value{name, where}, key}, depth);
}

void ParameterCheck::check_plugin(const std::string& kind, const GivenParameter& given, int depth) {
  const std::string name = plugin_name(given.value);
  const GivenParameter place = name_of_plugin(given);
  if (place.value.get_if<std::string>() == nullptr) throw not_allowed(place.value, place.key, "the name of a " + kind);
  if (name.empty() || name == "auto") return;  // No plugin is named, or the component chooses one.
  const core::PluginInfo* info = nullptr;
  try {
    info = &catalogue_.info(kind, name);
  } catch (const Error& error) {
    throw error_at(place.value.origin, place.key, error.what(), error.code());
  }
  check(info->parameters, parameters_of(given), given.value.origin, given.key, depth + 1);
}

}  // namespace trainyard::launch
