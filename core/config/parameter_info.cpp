// SPDX-License-Identifier: Apache-2.0
#include "core/config/parameter_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {
namespace {

using nlohmann::json;

/// The names of the kinds, indexed by ValueKind.
constexpr std::array<std::string_view, 10> kKindNames{
    "bool",   "integer", "number",         "string", "list of integers", "list of numbers", "list of strings",
    "plugin", "any",     "list of plugins"};

bool is_list_of(const json& value, bool (*test)(const json&)) {
  return value.is_array() && std::ranges::all_of(value, [test](const json& element) { return test(element); });
}
bool is_integer(const json& value) { return value.is_number_integer(); }
bool is_number(const json& value) { return value.is_number(); }
bool is_string(const json& value) { return value.is_string(); }
bool is_plugin(const json& value) { return value.is_string() || (value.is_object() && value.contains("plugin")); }

/// Returns true if a string parameter also accepts an integer. This is so if its default is "auto", which means that
/// the plugin chooses a number.
bool takes_integers(const ParameterInfo& info) {
  return info.kind == ValueKind::kString && info.default_json == "\"auto\"" && info.rules.choices.empty();
}

/// Returns true if the value has this kind. An integer also counts as a number, since `lr = 1` is not a mistake. A
/// number with a fraction does not count as an integer.
bool has_kind(ValueKind kind, const json& value) {
  switch (kind) {
    case ValueKind::kBool:
      return value.is_boolean();
    case ValueKind::kInteger:
      return is_integer(value);
    case ValueKind::kNumber:
      return is_number(value);
    case ValueKind::kString:
      return is_string(value);
    case ValueKind::kIntegers:
      return is_list_of(value, is_integer);
    case ValueKind::kNumbers:
      return is_list_of(value, is_number);
    case ValueKind::kStrings:
      return is_list_of(value, is_string);
    case ValueKind::kPlugin:
      return is_plugin(value);
    case ValueKind::kPlugins:
      return is_list_of(value, is_plugin);
    case ValueKind::kAny:
      return true;
  }
  return false;
}

/// Both limits are allowed values, except a minimum that is excluded. NaN would pass these comparisons, but cannot
/// occur, because JSON does not have it.
bool in_range(const ParameterRules& rules, double value) {
  if (rules.minimum && (rules.minimum_excluded ? value <= *rules.minimum : value < *rules.minimum)) return false;
  return !(rules.maximum && value > *rules.maximum);
}

/// Checks the range of a number or, for a list, of every element. Other values have no range and pass.
bool numbers_in_range(const ParameterRules& rules, const json& value) {
  if (value.is_number()) return in_range(rules, value.get<double>());
  if (!value.is_array()) return true;
  return std::ranges::all_of(value, [&](const json& element) { return numbers_in_range(rules, element); });
}

/// Checks that a string or, for a list, every element is one of the choices. Other values pass.
bool all_chosen(const ParameterRules& rules, const json& value) {
  if (rules.choices.empty()) return true;
  if (value.is_string()) return std::ranges::find(rules.choices, value.get<std::string>()) != rules.choices.end();
  if (!value.is_array()) return true;
  return std::ranges::all_of(value, [&](const json& element) { return all_chosen(rules, element); });
}

std::string_view article(std::string_view kind) { return kind.starts_with('a') ? "an" : "a"; }

/// Shortens a value for an error message, because the value may be a whole table.
std::string shorten(std::string text) { return text.size() <= 200 ? text : text.substr(0, 200) + "..."; }

}  // namespace

std::string_view name_of(ValueKind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }

// The rules are combined field by field; fields that `right` does not set keep their values.
ParameterRules operator|(ParameterRules left, const ParameterRules& right) {
  if (right.minimum) {
    left.minimum = right.minimum;
    left.minimum_excluded = right.minimum_excluded;
  }
  if (right.maximum) left.maximum = right.maximum;
  if (!right.choices.empty()) left.choices = right.choices;
  if (!right.unit.empty()) left.unit = right.unit;
  if (!right.plugin_kind.empty()) left.plugin_kind = right.plugin_kind;
  left.settable |= right.settable;
  return left;
}

// Describes the choices if there are any, and otherwise the kind and the range.
std::string describe_allowed(const ParameterInfo& info) {
  const ParameterRules& rules = info.rules;
  if (takes_integers(info)) return "an integer or a string";
  if (!rules.choices.empty()) return fmt::format("one of: {}", fmt::join(rules.choices, ", "));
  if (info.kind == ValueKind::kPlugin) {
    return fmt::format("the name of {} {} or a table with plugin = \"name\"", article(rules.plugin_kind),
                       rules.plugin_kind);
  }
  if (info.kind == ValueKind::kPlugins) {
    return fmt::format("a list, each entry the name of {} {} or a table with plugin = \"name\"",
                       article(rules.plugin_kind), rules.plugin_kind);
  }
  std::string words = info.kind == ValueKind::kInteger ? "an integer" : fmt::format("a {}", name_of(info.kind));
  if (rules.minimum) words += fmt::format(" {} {}", rules.minimum_excluded ? ">" : ">=", *rules.minimum);
  if (rules.maximum) words += fmt::format("{} <= {}", rules.minimum ? " and" : "", *rules.maximum);
  if (!rules.unit.empty()) words += fmt::format(" ({})", rules.unit);
  return words;
}

// The kind is checked first, because the range of a value of another kind would be meaningless.
void check_value(const ParameterInfo& info, const json& value) {
  const bool right_kind = has_kind(info.kind, value) || (takes_integers(info) && is_integer(value));
  if (right_kind && numbers_in_range(info.rules, value) && all_chosen(info.rules, value)) return;
  std::string meant;
  // If the value is similar to one of the choices, it is probably a misspelling.
  if (value.is_string() && !info.rules.choices.empty()) meant = nearest(value.get<std::string>(), info.rules.choices);
  throw Error(Code::kInvalidArgument, "{}: {} is not allowed; {}{}", info.name, shorten(value.dump()),
              describe_allowed(info), meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant));
}

// A child process that describes a plugin sends this JSON to the launcher, which also caches it. It is not meant for
// human readers.
json to_json(const ParameterInfo& info) {
  json out{{"name", info.name},
           {"kind", static_cast<int>(info.kind)},
           {"required", info.required},
           {"default", info.default_json},
           {"help", info.help},
           {"unit", info.rules.unit},
           {"choices", info.rules.choices},
           {"plugin_kind", info.rules.plugin_kind},
           {"settable", info.rules.settable},
           {"minimum_excluded", info.rules.minimum_excluded}};
  if (info.rules.minimum) out["minimum"] = *info.rules.minimum;
  if (info.rules.maximum) out["maximum"] = *info.rules.maximum;
  return out;
}

ParameterInfo parameter_info_from_json(const json& in) {
  ParameterInfo info;
  info.name = in.at("name");
  info.kind = static_cast<ValueKind>(in.at("kind").get<int>());
  info.required = in.at("required");
  info.default_json = in.at("default");
  info.help = in.at("help");
  info.rules.unit = in.at("unit");
  info.rules.choices = in.at("choices").get<std::vector<std::string>>();
  info.rules.plugin_kind = in.at("plugin_kind");
  info.rules.settable = in.at("settable");
  info.rules.minimum_excluded = in.at("minimum_excluded");
  if (in.contains("minimum")) info.rules.minimum = in.at("minimum").get<double>();
  if (in.contains("maximum")) info.rules.maximum = in.at("maximum").get<double>();
  return info;
}

ParameterRules positive() { return {.minimum = 0, .minimum_excluded = true}; }
ParameterRules at_least(double minimum) { return {.minimum = minimum}; }
ParameterRules between(double minimum, double maximum) { return {.minimum = minimum, .maximum = maximum}; }
ParameterRules one_of(std::vector<std::string> choices) { return {.choices = std::move(choices)}; }
ParameterRules in_unit(std::string unit) { return {.unit = std::move(unit)}; }
ParameterRules settable() { return {.settable = true}; }
ParameterRules plugin_kind(std::string kind) { return {.plugin_kind = std::move(kind)}; }

}  // namespace trainyard
