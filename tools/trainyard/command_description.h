// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace trainyard::tools {

/// An option or an argument of a verb.
struct OptionDescription {
  std::vector<std::string> names;    ///< The names, such as "--json". An argument has only one name, such as "TOPIC".
  std::string help;                  ///< The help text, which may have several lines.
  std::string value;                 ///< The placeholder for its value, such as "NAME"; empty if it has none.
  std::vector<std::string> choices;  ///< The allowed values; empty if there are others or if any value is allowed.
  bool is_argument = false;          ///< True if the value is given by its position and not by its name.
  bool takes_value = false;
  bool required = false;
  bool repeatable = false;
};

/// A verb, or a family of verbs, or the command itself.
struct VerbDescription {
  std::string name;
  std::string help;
  std::string footer;
  /// The options, followed by the arguments in the order in which they are given.
  std::vector<OptionDescription> options;
  std::vector<VerbDescription> verbs;  ///< The verbs of a family.

  /// Returns the verb of the family with this name, or null.
  const VerbDescription* find(const std::string& verb) const;
};

/// Returns a description of all verbs, made from the parser itself. The help, the completion in shells and the manual
/// are made from this description, so no verb has to be described twice.
VerbDescription describe_command(const CLI::App& app);

}  // namespace trainyard::tools
