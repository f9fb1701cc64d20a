#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// The kinds of values that a parameter can have, in a launch file and on the wire. The cache of plugin descriptions
/// stores the numbers, so new kinds go to the end.
enum class ValueKind { kBool, kInteger, kNumber, kString, kIntegers, kNumbers, kStrings, kPlugin, kAny, kPlugins };

/// The name for people: "integer", "list of numbers", ...
std::string_view name_of(ValueKind kind);

/// The limits of a parameter's value. For lists, the number limits and choices apply to every element.
struct ParameterRules {
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool minimum_excluded = false;
  std::vector<std::string> choices;  ///< For strings only; any string is allowed if it is empty.
  std::string unit;                  ///< For example "ms" or "bytes".
  std::string plugin_kind;           ///< For kPlugin and kPlugins only: "dataset", "model", ...
  bool settable = false;             ///< True if the value may be changed while running.

  /// Combines two sets of rules. Where both say something, the right one wins.
  friend ParameterRules operator|(ParameterRules left, const ParameterRules& right);
};

/// The declaration of a parameter. `trainyard plugin info` prints it, and launch files are checked against it without
/// running the plugin.
struct ParameterInfo {
  std::string name;
  ValueKind kind = ValueKind::kAny;
  bool required = false;
  std::string default_json;  ///< The default as JSON text; empty if the parameter is required.
  std::string help;
  ParameterRules rules;
};

/// Throws kInvalidArgument if `value` is not allowed, such as "learning_rate: -1 is not allowed; a number > 0". The
/// text includes the parameter's name; the caller adds where the value was given.
void check_value(const ParameterInfo& info, const nlohmann::json& value);

/// What is allowed, in words: "a number > 0", "one of: cosine, linear", ...
std::string describe_allowed(const ParameterInfo& info);

/// Convert the declaration to JSON and back. For JSON that is not a declaration, the JSON library's exception is
/// thrown.
nlohmann::json to_json(const ParameterInfo& info);
ParameterInfo parameter_info_from_json(const nlohmann::json& json);

// The rules of a declaration, which are joined with `|`: at_least(0) | settable() | in_unit("steps").

/// The value must be > 0.
ParameterRules positive();
ParameterRules at_least(double minimum);
/// Both ends are allowed.
ParameterRules between(double minimum, double maximum);
/// Only these words are allowed.
ParameterRules one_of(std::vector<std::string> choices);
/// Shown to people; nothing is converted.
ParameterRules in_unit(std::string unit);
/// The value may be changed while the component runs (`param.set`). Code that uses it must read it anew each time, or
/// use Parameter::on_change.
ParameterRules settable();
/// For a PluginSpec: the kind of plugin that it names. The planner then checks that plugin's parameters, too.
ParameterRules plugin_kind(std::string kind);

}  // namespace trainyard
