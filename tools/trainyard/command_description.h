// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trainyard::tools {

/// An option or a positional argument of a verb.
struct OptionDescription {
  /// The names of an option, such as "-o" and "--output", or the single name of a positional argument, such as "TOPIC".
  std::vector<std::string> names;
  std::string help;                  ///< The help text, which may have several lines.
  std::string value;                 ///< The placeholder for its value, such as "NAME"; empty if it takes no value.
  std::vector<std::string> choices;  ///< The allowed values; empty if they are not a fixed list.
  bool is_argument = false;          ///< True for a positional argument, false for an option.
  bool takes_value = false;
  bool required = false;
  bool repeatable = false;
};

/// A subcommand of `trainyard` (called a verb), a family of verbs such as `topic`, or the command `trainyard` itself.
struct VerbDescription {
  std::string name;
  std::string help;
  std::string footer;
  /// The options and the positional arguments. The latter are in the order in which users type them.
  std::vector<OptionDescription> options;
  std::vector<VerbDescription> verbs;  ///< The subcommands, such as those of `topic`; empty if there are none.

  /// Returns the verb with this name in the family, or null if there is none.
  const VerbDescription* find(const std::string& verb) const;
};

/// Returns a description of the whole command line, taken from the parser. The shell completion and the manual page are
/// generated from this description, so each verb is described only once.
VerbDescription describe_command(const CLI::App& app);

}  // namespace trainyard::tools
