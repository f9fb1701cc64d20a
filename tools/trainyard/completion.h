// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/trainyard/command_description.h"

namespace trainyard::tools {

/// What the user has typed before the word that is to be completed.
struct TypedWords {
  const VerbDescription* verb = nullptr;  ///< The innermost verb or family that was typed.
  std::vector<std::string> path;          ///< The names of the families and of the verb.
  std::vector<std::string> arguments;     ///< The positional arguments.
  std::vector<std::string> given;         ///< The names of the options that were typed.
  std::string run;                        ///< The value of the option --run.
  /// The option or argument whose value is completed, or null.
  const OptionDescription* open = nullptr;
};

/// A possible completion, and a short explanation of it.
struct Candidate {
  std::string word;
  std::string help;
};

/// All possible completions of a word.
struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  ///< True if the name of a file is possible, too.
};

/// Interprets `words`, the words before `current`, which is the word to be completed.
TypedWords read_words(const VerbDescription& command, const std::vector<std::string>& words,
                      const std::string& current);

/// Returns the completions that follow from the description of the command alone: verbs, names of options, and values
/// from fixed lists.
Candidates static_candidates(const TypedWords& typed, const std::string& current);

/// Returns the completions that must be looked up: running launches with their topics, components, parameters and
/// services; launch files; and plugins. If they cannot be determined, the result is empty.
Candidates dynamic_candidates(const TypedWords& typed);

/// Prints the completions of the last word to standard output, one on each line: the completion, a tab and its
/// explanation. The line `:files` means that names of files are possible, too. If this takes too long, the function
/// gives up without a message, because users do not wait for a completion. Returns the exit code.
int complete(const VerbDescription& command, std::vector<std::string> words);

}  // namespace trainyard::tools
