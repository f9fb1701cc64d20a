// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/command_description.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

namespace trainyard::tools {
namespace {

/// Returns the allowed values in a type description such as "FORMAT:{text,json}", to which CLI::IsMember adds them.
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  if (begin == type.npos || end == type.npos) return {};
  std::vector<std::string> choices;
  std::istringstream words(type.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription described;
  described.help = option.get_description();
  described.is_argument = option.get_positional();
  described.takes_value = option.get_items_expected_max() > 0;
  described.required = option.get_required();
  described.repeatable = option.get_items_expected_max() > 1;
  if (described.is_argument) described.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  if (!described.takes_value) return described;
  const std::string type = option.get_type_name();
  described.choices = choices_in(type);
  described.value = type.substr(0, type.find(':'));
  // "TEXT" is the parser's default name for a value. The help shows "VALUE" instead.
  if (described.value == "TEXT" || described.value.empty()) described.value = "VALUE";
  if (described.value == "FLOAT") described.value = "NUMBER";
  if (described.value == "UINT" || described.value == "INT") described.value = "N";
  return described;
}

}  // namespace

const VerbDescription* VerbDescription::find(const std::string& verb) const {
  const auto found = std::ranges::find(verbs, verb, &VerbDescription::name);
  return found == verbs.end() ? nullptr : &*found;
}

VerbDescription describe_command(const CLI::App& app) {
  VerbDescription verb{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) verb.options.push_back(describe_option(*option));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    verb.verbs.push_back(describe_command(*below));
  }
  return verb;
}

}  // namespace trainyard::tools
