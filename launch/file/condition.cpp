// SPDX-License-Identifier: Apache-2.0
#include "launch/file/condition.h"

namespace trainyard::launch {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

bool holds(const Value& when, std::string_view key) {
  if (const auto* flag = when.get_if<bool>()) return *flag;
  if (const auto* text = when.get_if<std::string>()) {
    const std::string_view condition = trim(*text);
    if (condition == "true" || condition == "false") return condition == "true";
    // The first operator in the text determines the comparison. Conditions with several comparisons or parentheses are
    // not supported.
    for (const std::string_view comparison : {"==", "!="}) {
      const std::size_t at = condition.find(comparison);
      if (at == std::string_view::npos) continue;
      const bool equal = trim(condition.substr(0, at)) == trim(condition.substr(at + 2));
      return equal == (comparison == "==");
    }
  }
  throw not_allowed(when, key, "true, false, \"a == b\" or \"a != b\"");
}

}  // namespace trainyard::launch
