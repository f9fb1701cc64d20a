// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/trainyard/command_description.h"

namespace trainyard::tools {

/// The words that the user has typed before the word that is to be completed.
struct TypedWords {
  const VerbDescription* verb = nullptr;  ///< The innermost verb or family that was typed.
  std::vector<std::string> path;          ///< The names of the families and of the verb.
  std::vector<std::string> arguments;     ///< The arguments that were given by their position.
  std::vector<std::string> given;         ///< The names of the options that were given.
  std::string run;                        ///< The value of the option --run.
  /// The option or argument whose value is to be completed; null if the word is not such a value.
  const OptionDescription* open = nullptr;
};

/// A possible completion, and its meaning.
struct Candidate {
  std::string word;
  std::string help;
};

/// The possible completions of one word.
struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  ///< True if the word can also be the name of a file.
};

/// Interprets the words before `current`, which is the word to be completed.
TypedWords read_words(const VerbDescription& command, const std::vector<std::string>& words,
                      const std::string& current);

/// Returns the completions that follow from the description alone: verbs, names of options, and values from a fixed
/// list.
Candidates static_candidates(const TypedWords& typed, const std::string& current);

/// Returns the completions that have to be looked up: topics, components, parameters, services and runs of running
/// launches, launch files, and plugins. Returns nothing if they cannot be found.
Candidates dynamic_candidates(const TypedWords& typed);

/// Prints the completions of the last word to standard output, one per line: the word, a tab and its help. The line
/// `:files` stands for the names of files. Gives up silently after a short time, because nobody waits for a completion.
int complete(const VerbDescription& command, std::vector<std::string> words);

}  // namespace trainyard::tools
