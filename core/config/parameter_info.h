#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// What kinds of value a parameter can have, in a launch file and on the wire. The numbers are kept in the cache of
/// plugin descriptions, so new ones go to the end.
enum class ValueKind { kBool, kInteger, kNumber, kString, kIntegers, kNumbers, kStrings, kPlugin, kAny, kPlugins };

/// "integer", "list of numbers", ...
std::string_view name_of(ValueKind kind);

/// The limits of a parameter's value. For lists, numbers and choices hold for every element.
struct ParameterRules {
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool minimum_excluded = false;
  std::vector<std::string> choices;  ///< Strings only; empty = any.
  std::string unit;                  ///< "ms", "bytes", ...
  std::string plugin_kind;           ///< kPlugin and kPlugins only: "dataset", "model", ...
  bool settable = false;             ///< May be changed while running.

  /// Both sets of rules; the right side wins where both say something.
  friend ParameterRules operator|(ParameterRules left, const ParameterRules& right);
};

/// The declaration of a parameter: what `trainyard plugin info` prints and what a launch file is checked against,
/// without running the plugin.
struct ParameterInfo {
  std::string name;
  ValueKind kind = ValueKind::kAny;
  bool required = false;
  std::string default_json;  ///< JSON text; empty if required.
  std::string help;
  ParameterRules rules;
};

/// Throws kInvalidArgument if `value` is not allowed: "learning_rate: -1 is not allowed; a number > 0".
/// The name is part of the message; the caller adds where it was given.
void check_value(const ParameterInfo& info, const nlohmann::json& value);

/// "a number > 0", "one of: cosine, linear": what is allowed, in words.
std::string describe_allowed(const ParameterInfo& info);

/// The declaration as JSON and back; throws the JSON library's exception for what is no declaration.
nlohmann::json to_json(const ParameterInfo& info);
ParameterInfo parameter_info_from_json(const nlohmann::json& json);

// Rules, to be joined with `|`: at_least(0) | settable() | in_unit("steps").

/// > 0.
ParameterRules positive();
ParameterRules at_least(double minimum);
/// Both ends are allowed.
ParameterRules between(double minimum, double maximum);
/// These words and no others.
ParameterRules one_of(std::vector<std::string> choices);
/// Shown to people; nothing is converted.
ParameterRules in_unit(std::string unit);
/// May be changed while the component runs (`param.set`); whoever uses it must read it anew each time, or use
/// Parameter::on_change.
ParameterRules settable();
/// For a PluginSpec: which kind of plugin it names. The planner then checks that plugin's parameters, too.
ParameterRules plugin_kind(std::string kind);

}  // namespace trainyard
