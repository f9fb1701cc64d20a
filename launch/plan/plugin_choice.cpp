// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/plugin_choice.h"

#include <nlohmann/json.hpp>

namespace trainyard::launch {
namespace {

std::string text_or_nothing(const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text == nullptr ? "" : *text;
}

PluginChoice default_choice(const Draft& draft, const ParameterInfo& declared) {
  const auto spec = nlohmann::json::parse(declared.default_json, nullptr, /*allow_exceptions=*/false);
  const std::string name = spec.is_object() ? spec.value("plugin", "") : "";
  const std::string key = draft.spec->key + ".params." + declared.name;
  return {name, "{}", {Value{name, draft.spec->origin}, key}};
}

}  // namespace

PluginChoice plugin_choice(const Draft& draft, const ParameterInfo& declared,
                           const std::map<std::string, GivenParameter>& given) {
  const auto found = given.find(declared.name);
  if (found == given.end()) return default_choice(draft, declared);
  const GivenParameter& parameter = found->second;
  const Value* inner = parameter.value.find("plugin");
  if (inner == nullptr) return {text_or_nothing(parameter.value), "{}", parameter};
  nlohmann::json parameters = to_json(parameter.value);
  parameters.erase("plugin");
  return {text_or_nothing(*inner), parameters.dump(), {*inner, join_key(parameter.key, "plugin")}};
}

}  // namespace trainyard::launch
