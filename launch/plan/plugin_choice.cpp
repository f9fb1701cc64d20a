// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/plugin_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trainyard::launch {
namespace {

std::string text_or_nothing(const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text == nullptr ? "" : *text;
}

const ParameterInfo* find_parameter(const core::PluginInfo& info, std::string_view kind) {
  const auto found = std::ranges::find_if(info.parameters, [kind](const ParameterInfo& parameter) {
    return parameter.kind == ValueKind::kPlugin && parameter.rules.plugin_kind == kind;
  });
  return found == info.parameters.end() ? nullptr : &*found;
}

PluginChoice default_choice(const Draft& draft, const ParameterInfo& declared) {
  const auto spec = nlohmann::json::parse(declared.default_json, nullptr, /*allow_exceptions=*/false);
  const std::string name = spec.is_object() ? spec.value("plugin", "") : "";
  const std::string key = draft.spec->key + ".params." + declared.name;
  return {&declared, name, "{}", {Value{name, draft.spec->origin}, key}};
}

}  // namespace

PluginChoice plugin_choice(const Draft& draft, std::string_view kind) {
  const ParameterInfo* declared = find_parameter(*draft.info, kind);
  if (declared == nullptr) return {};
  const auto found = draft.given.find(declared->name);
  if (found == draft.given.end()) return default_choice(draft, *declared);
  const GivenParameter& parameter = found->second;
  const Value* inner = parameter.value.find("plugin");
  if (inner == nullptr) return {declared, text_or_nothing(parameter.value), "{}", parameter};
  nlohmann::json parameters = to_json(parameter.value);
  parameters.erase("plugin");
  return {declared, text_or_nothing(*inner), parameters.dump(), {*inner, join_key(parameter.key, "plugin")}};
}

void set_choice(Draft& draft, const PluginChoice& choice, const std::string& name) {
  Value& value = draft.given.try_emplace(choice.declared->name, choice.place).first->second.value;
  auto* table = value.get_if<Value::Table>();
  (table == nullptr ? value : table->at("plugin")).data = name;
}

}  // namespace trainyard::launch
