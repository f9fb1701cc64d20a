// SPDX-License-Identifier: Apache-2.0
#include "core/config/parameter.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/config/configurable.h"
#include "messages/error.h"

namespace trainyard {

// The templates are instantiated only here, for all allowed types, because including the JSON library in every plugin
// would double the build time.

namespace {

using nlohmann::json;

template <class T>
constexpr ValueKind kind_of() {
  if constexpr (std::is_same_v<T, bool>) return ValueKind::kBool;
  if constexpr (std::is_same_v<T, std::int64_t>) return ValueKind::kInteger;
  if constexpr (std::is_same_v<T, double>) return ValueKind::kNumber;
  if constexpr (std::is_same_v<T, std::string>) return ValueKind::kString;
  if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) return ValueKind::kIntegers;
  if constexpr (std::is_same_v<T, std::vector<double>>) return ValueKind::kNumbers;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return ValueKind::kStrings;
  if constexpr (std::is_same_v<T, std::vector<PluginSpec>>) return ValueKind::kPlugins;
  return ValueKind::kPlugin;
}

template <class T>
json to_json_value(const T& value) {
  return value;
}
// Converts a PluginSpec to the form that it has in a launch file: one table, with the plugin's name among its
// parameters.
json to_json_value(const PluginSpec& spec) {
  json value = json::parse(spec.parameters);
  value["plugin"] = spec.plugin;
  return value;
}
json to_json_value(const std::vector<PluginSpec>& specs) {
  json list = json::array();
  for (const PluginSpec& spec : specs) list.push_back(to_json_value(spec));
  return list;
}

template <class T>
void from_json_value(const json& value, T& out) {
  out = value.get<T>();
}
// An integer, which some string parameters accept, is stored as text.
void from_json_value(const json& value, std::string& out) {
  out = value.is_string() ? value.get<std::string>() : value.dump();
}
// check_value() has made sure that the value is a name, or a table with a name.
void from_json_value(const json& value, PluginSpec& out) {
  if (value.is_string()) {
    out = {value.get<std::string>(), "{}"};
    return;
  }
  json rest = value;
  rest.erase("plugin");
  out = {value.at("plugin").get<std::string>(), rest.dump()};
}
void from_json_value(const json& value, std::vector<PluginSpec>& out) {
  out.clear();
  for (const json& entry : value) from_json_value(entry, out.emplace_back());
}

template <class T>
ParameterInfo describe(std::string name, bool required, std::string default_json, std::string help,
                       ParameterRules rules) {
  return {std::move(name), kind_of<T>(), required, std::move(default_json), std::move(help), std::move(rules)};
}

}  // namespace

ParameterBase::ParameterBase(Configurable& owner, ParameterInfo info) : info_(std::move(info)) {
  // The name is the key in the launch file, so it must be unique.
  if (owner.find_parameter(info_.name) != nullptr) {
    throw Error(Code::kInternal, "{} declares the parameter '{}' twice", owner.where(), info_.name);
  }
  owner.parameters_.push_back(this);
}

void ParameterBase::assign(const json& value) {
  check_value(info_, value);
  store(value);
}

// The constructor of the derived class calls this, because store() cannot be called in this class's own constructor.
void ParameterBase::take_given(Configurable& owner) {
  const auto found = owner.given_->find(info_.name);
  if (found != owner.given_->end()) {
    try {
      assign(*found);
    } catch (const Error& error) {
      throw Error(error.code(), "{}: {}", owner.where(), error.what());
    }
  } else if (info_.required && !owner.describing()) {
    throw Error(Code::kInvalidArgument, "{}: the parameter '{}' must be given; {}", owner.where(), info_.name,
                describe_allowed(info_));
  }
}

template <class T>
Parameter<T>::Parameter(Configurable& owner, std::string name, T default_value, std::string help, ParameterRules rules)
    : ParameterBase(owner, describe<T>(std::move(name), false, to_json_value(default_value).dump(), std::move(help),
                                       std::move(rules))),
      value_(std::move(default_value)) {
  take_given(owner);
}

template <class T>
Parameter<T>::Parameter(Configurable& owner, std::string name, Required, std::string help, ParameterRules rules)
    : ParameterBase(owner, describe<T>(std::move(name), true, "", std::move(help), std::move(rules))) {
  take_given(owner);
}

template <class T>
json Parameter<T>::value() const {
  return to_json_value(value_);
}

template <class T>
void Parameter<T>::store(const json& value) {
  from_json_value(value, value_);
}

namespace {

ParameterRules with_choices(ParameterRules rules, std::span<const std::string_view> words) {
  if (rules.choices.empty()) rules.choices.assign(words.begin(), words.end());
  return rules;
}

}  // namespace

WordParameter::WordParameter(Configurable& owner, std::string name, std::size_t default_index, std::string help,
                             ParameterRules rules, std::span<const std::string_view> words)
    : ParameterBase(owner, describe<std::string>(std::move(name), false, json(words[default_index]).dump(),
                                                 std::move(help), with_choices(std::move(rules), words))),
      words_(words),
      index_(default_index) {
  take_given(owner);
}

json WordParameter::value() const { return words_[index_]; }

// check_value() has made sure that the value is one of the words.
void WordParameter::store(const json& value) {
  const auto found = std::ranges::find(words_, std::string_view(value.get_ref<const std::string&>()));
  index_ = static_cast<std::size_t>(found - words_.begin());
}

// These are the types that a launch file can express. A Parameter<T> of any other type does not link.
template class Parameter<bool>;
template class Parameter<std::int64_t>;
template class Parameter<double>;
template class Parameter<std::string>;
template class Parameter<std::vector<std::int64_t>>;
template class Parameter<std::vector<double>>;
template class Parameter<std::vector<std::string>>;
template class Parameter<PluginSpec>;
template class Parameter<std::vector<PluginSpec>>;

}  // namespace trainyard
