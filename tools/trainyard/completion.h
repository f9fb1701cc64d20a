// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/trainyard/command_description.h"

namespace trainyard::tools {

/// What the user has typed before the word that is completed, as far as it matters.
struct TypedWords {
  const VerbDescription* verb = nullptr;    ///< The innermost verb or family.
  std::vector<std::string> path;            ///< The names of the families and of the verb.
  std::vector<std::string> arguments;       ///< Those that are given by their place.
  std::vector<std::string> given;           ///< The names of the options.
  std::string run;                          ///< The value of --run.
  const OptionDescription* open = nullptr;  ///< The option or argument whose value is completed, if there is one.
};

/// A word that could be meant, and what it means.
struct Candidate {
  std::string word;
  std::string help;
};

/// The words that could stand at one place.
struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  ///< True if the name of a file could stand there, too.
};

/// Reads the words before the one that is completed, which is `current`.
TypedWords read_words(const VerbDescription& command, const std::vector<std::string>& words,
                      const std::string& current);

/// Returns what the description alone offers: verbs, names of options, and values that are choices.
Candidates static_candidates(const TypedWords& typed, const std::string& current);

/// Returns what has to be looked up: the topics, components, parameters, services and runs of running launches, launch
/// files and plugins. Returns nothing if it cannot be found out.
Candidates dynamic_candidates(const TypedWords& typed);

/// Prints the completions of the last word to standard output, one a line: the word, a tab and its help; `:files`
/// stands for the names of files. It gives up silently after a short time, because nobody waits for a completion.
int complete(const VerbDescription& command, std::vector<std::string> words);

}  // namespace trainyard::tools
