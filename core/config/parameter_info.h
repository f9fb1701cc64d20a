// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// The kinds of values that a parameter can have, in a launch file and on the wire. The cache of plugin descriptions
/// stores these kinds as numbers, so new kinds must be added at the end.
enum class ValueKind { kBool, kInteger, kNumber, kString, kIntegers, kNumbers, kStrings, kPlugin, kAny, kPlugins };

/// Returns the name of the kind, for error messages and documentation: "integer", "list of numbers", ...
std::string_view name_of(ValueKind kind);

/// The rules that a parameter's value must satisfy, and the unit for display. For a list, the minimum, the maximum and
/// the choices apply to every element.
struct ParameterRules {
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool minimum_excluded = false;  ///< True if the value must be greater than `minimum`, not equal to it.
  /// The allowed strings. If `choices` is empty, every string is allowed.
  std::vector<std::string> choices;
  std::string unit;  ///< The unit for display, such as "ms" or "bytes"; empty if there is none.
  /// The kind of plugin that the value must name, such as "dataset"; used only for kPlugin and kPlugins.
  std::string plugin_kind;
  bool settable = false;  ///< True if the value may be changed while the component runs.

  /// Combines two sets of rules. If both set the same property, the value in `right` applies.
  friend ParameterRules operator|(ParameterRules left, const ParameterRules& right);
};

/// The declaration of a parameter. `trainyard plugin info` prints the declaration, and launch files are checked against
/// it without running the plugin.
struct ParameterInfo {
  std::string name;
  ValueKind kind = ValueKind::kAny;
  bool required = false;
  std::string default_json;  ///< The default as JSON text; an empty string if the parameter is required.
  std::string help;
  ParameterRules rules;
};

/// Throws kInvalidArgument if `value` is not allowed, with a text such as "learning_rate: -1 is not allowed; a number >
/// 0". The text includes the name of the parameter; the caller adds the file and line of the value.
void check_value(const ParameterInfo& info, const nlohmann::json& value);

/// Returns a description of the allowed values: "a number > 0", "one of: cosine, linear", ...
std::string describe_allowed(const ParameterInfo& info);

/// Converts a declaration to JSON.
nlohmann::json to_json(const ParameterInfo& info);
/// Converts JSON back to a declaration. If the JSON is not a declaration, the JSON library throws its own exception.
ParameterInfo parameter_info_from_json(const nlohmann::json& json);

// The rules of a declaration, which are joined with `|`: at_least(0) | settable() | in_unit("steps").

/// Returns the rule that the value must be > 0.
ParameterRules positive();
/// Returns the rule that the value must be >= `minimum`.
ParameterRules at_least(double minimum);
/// Returns the rule that the value must be >= `minimum` and <= `maximum`.
ParameterRules between(double minimum, double maximum);
/// Returns the rule that the value must be one of `choices`.
ParameterRules one_of(std::vector<std::string> choices);
/// Returns a rule that sets the unit for display. No value is converted.
ParameterRules in_unit(std::string unit);
/// Returns the rule that the value may be changed while the component runs (`trainyard param set`). The component must
/// then read the parameter whenever it needs the value, or use Parameter::on_change.
ParameterRules settable();
/// Returns the rule that a PluginSpec, or each PluginSpec of a list, must name a plugin of the kind `kind`, such as
/// "dataset". When a launch file is checked, the parameters of that plugin are then checked, too.
ParameterRules plugin_kind(std::string kind);

}  // namespace trainyard
