// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/trainyard/command_description.h"

namespace trainyard::tools {

/// What the user has typed on the command line before the word that the shell asks to complete.
struct TypedWords {
  /// The last subcommand that was typed, or the family of subcommands if only that was typed, or `trainyard` itself if
  /// neither was.
  const VerbDescription* verb = nullptr;
  std::vector<std::string> path;       ///< The names of the subcommands that were typed, such as "topic" and "echo".
  std::vector<std::string> arguments;  ///< The positional arguments.
  std::vector<std::string> given;      ///< The names of the options that were typed.
  std::string run;                     ///< The value of the option --run.
  /// The option or argument whose value is being completed, or null.
  const OptionDescription* open = nullptr;
};

/// A possible completion, and a short explanation of it.
struct Candidate {
  std::string word;
  std::string help;
};

/// The possible completions of a word.
struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  ///< True if the name of any file is possible, too.
};

/// Interprets `words`, which precede `current`, the word to be completed.
TypedWords read_words(const VerbDescription& command, const std::vector<std::string>& words,
                      const std::string& current);

/// Returns the completions of `current` that follow from the description of the command alone: verbs, names of options,
/// and values from fixed lists.
Candidates static_candidates(const TypedWords& typed, const std::string& current);

/// Returns the completions that must be looked up: running launches with their topics, components, parameters and
/// services; launch files; and plugins. If they cannot be determined, the result is empty.
Candidates dynamic_candidates(const TypedWords& typed);

/// Prints the possible completions for the completion script of a shell. `words` are the words of the command line; the
/// last one is to be completed. Each line on standard output contains a completion, a tab and an explanation. The line
/// `:files` means that names of files are possible, too. If a lookup takes too long, SIGALRM ends the process without a
/// message, because users do not wait for a completion. Returns the exit code.
int complete(const VerbDescription& command, std::vector<std::string> words);

}  // namespace trainyard::tools
