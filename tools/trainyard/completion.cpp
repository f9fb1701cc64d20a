// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/completion.h"

#include <sys/time.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"

namespace trainyard::tools {
namespace {

const OptionDescription* find_option(const VerbDescription& verb, const std::string& name) {
  for (const OptionDescription& option : verb.options) {
    if (!option.is_argument && std::ranges::find(option.names, name) != option.names.end()) return &option;
  }
  return nullptr;
}

/// Returns the positional argument with this index. The last argument may take several words.
const OptionDescription* find_argument(const VerbDescription& verb, std::size_t place) {
  const OptionDescription* last = nullptr;
  for (const OptionDescription& option : verb.options) {
    if (!option.is_argument) continue;
    if (place-- == 0) return &option;
    last = &option;
  }
  return last != nullptr && last->repeatable ? last : nullptr;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// Records an option that precedes the current word. If it takes a value, the next word is this value.
void read_option(TypedWords& typed, const std::string& word) {
  const std::size_t sign = word.find('=');
  const std::string name = word.substr(0, sign);
  typed.given.push_back(name);
  const OptionDescription* option = find_option(*typed.verb, name);
  if (option == nullptr || !option->takes_value) return;
  if (sign == word.npos) typed.open = option;
  if (sign != word.npos && name == "--run") typed.run = word.substr(sign + 1);
}

void read_word(TypedWords& typed, const std::string& word) {
  // bash passes '=' as a separate word.
  if (word == "=") return;
  if (typed.open != nullptr) {
    if (typed.given.back() == "--run") typed.run = word;
    typed.open = nullptr;
  } else if (is_option(word)) {
    read_option(typed, word);
  } else if (const VerbDescription* verb = typed.verb->find(word); verb != nullptr) {
    typed.verb = verb;
    typed.path.push_back(word);
  } else {
    typed.arguments.push_back(word);
  }
}

/// Returns the first line, which is enough as the explanation of a completion.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Candidates option_names(const TypedWords& typed) {
  Candidates candidates;
  for (const OptionDescription& option : typed.verb->options) {
    if (option.is_argument) continue;
    const bool is_given = std::ranges::any_of(option.names, [&](const std::string& name) {
      return std::ranges::find(typed.given, name) != typed.given.end();
    });
    if (is_given && !option.repeatable) continue;
    for (const std::string& name : option.names) candidates.words.push_back({name, first_line(option.help)});
  }
  return candidates;
}

void print_candidates(const Candidates& candidates, const std::string& current) {
  std::set<std::string> printed;
  for (const auto& [word, help] : candidates.words) {
    if (!word.starts_with(current) || !printed.insert(word).second) continue;
    std::printf("%s\t%s\n", printable_line(word).c_str(), printable_line(help).c_str());
  }
  if (candidates.files) std::printf(":files\n");
}

/// Makes SIGALRM end the process soon, by its default action.
void end_soon() {
  itimerval limit = {};
  limit.it_value.tv_usec = 700'000;
  ::setitimer(ITIMER_REAL, &limit, nullptr);
}

}  // namespace

TypedWords read_words(const VerbDescription& command, const std::vector<std::string>& words,
                      const std::string& current) {
  TypedWords typed;
  typed.verb = &command;
  for (const std::string& word : words) read_word(typed, word);
  if (typed.open == nullptr && !is_option(current)) typed.open = find_argument(*typed.verb, typed.arguments.size());
  return typed;
}

Candidates static_candidates(const TypedWords& typed, const std::string& current) {
  if (typed.open == nullptr && is_option(current)) return option_names(typed);
  Candidates candidates;
  if (typed.open == nullptr) {
    for (const VerbDescription& verb : typed.verb->verbs)
      candidates.words.push_back({verb.name, first_line(verb.help)});
  } else {
    for (const std::string& choice : typed.open->choices) candidates.words.push_back({choice, ""});
  }
  return candidates;
}

int complete(const VerbDescription& command, std::vector<std::string> words) {
  std::string current = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  std::string prefix;
  if (current == "=") current.clear();
  if (const std::size_t sign = current.find('='); is_option(current) && sign != current.npos) {
    // Shells other than bash pass --name=value as one word.
    prefix = current.substr(0, sign + 1);
    words.push_back(current.substr(0, sign));
    current = current.substr(sign + 1);
  }
  const TypedWords typed = read_words(command, words, current);
  Candidates candidates = static_candidates(typed, current);
  if (typed.open != nullptr && candidates.words.empty()) {
    end_soon();
    candidates = dynamic_candidates(typed);
  }
  for (Candidate& candidate : candidates.words) candidate.word.insert(0, prefix);
  print_candidates(candidates, prefix + current);
  return kExitOk;
}

}  // namespace trainyard::tools
