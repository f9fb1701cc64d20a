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
  std::vector<std::string> names;    ///< "--json", or the one name of an argument: "TOPIC".
  std::string help;                  ///< May have several lines.
  std::string value;                 ///< The placeholder for its value, such as "NAME"; empty if it has none.
  std::vector<std::string> choices;  ///< The allowed values; empty if others are allowed, too.
  bool is_argument = false;          ///< True if it is given by its place, not by its name.
  bool takes_value = false;
  bool required = false;
  bool repeatable = false;
};

/// A verb, or a family of verbs, or the command itself.
struct VerbDescription {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<OptionDescription> options;  ///< The arguments are in the order in which they are given.
  std::vector<VerbDescription> verbs;      ///< Those of a family.

  /// Returns the verb of the family with this name, or null.
  const VerbDescription* find(const std::string& verb) const;
};

/// Returns what the parser knows about itself. This is the source of the help, of the completion in shells and of the
/// manual, so no verb is described twice.
VerbDescription describe_command(const CLI::App& app);

}  // namespace trainyard::tools
