// SPDX-License-Identifier: Apache-2.0
#include "web/message.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace trainyard::web {
namespace {

constexpr std::size_t kMaxArguments = 32;

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) return {};
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

}  // namespace

Response plain(unsigned status, std::string sentence) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(sentence) + "\n")};
}

std::string Target::argument(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

Target parse_target(std::string_view text) {
  Target target;
  if (text.empty() || text.front() != '/') return target;
  const std::size_t mark = std::min(text.find('?'), text.size());
  std::string_view rest = text.substr(std::min(mark + 1, text.size()));
  while (!rest.empty() && target.query.size() < kMaxArguments) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    const std::size_t equals = std::min(one.find('='), one.size());
    const auto name = decoded(one.substr(0, equals));
    const auto value = decoded(one.substr(std::min(equals + 1, one.size())));
    if (!name || !value) return target;
    target.query.emplace(*name, *value);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  target.path = decoded(text.substr(0, mark)).value_or("");
  return target;
}

}  // namespace trainyard::web
