// SPDX-License-Identifier: Apache-2.0
#include "environments/host_name.h"

#include <algorithm>
#include <vector>

#include "environments/variable_reader.h"
#include "messages/error.h"

namespace trainyard::environments {
namespace {

constexpr std::size_t kLongestName = 253;

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '_' || c == ':';
}

/// Returns the text in lower case, because the names of hosts are case-insensitive.
std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return result;
}

bool is_address(std::string_view name) {
  return name.find(':') != name.npos || name.find_first_not_of("0123456789.") == name.npos;
}

std::string first_label(std::string_view name) {
  return lower(is_address(name) ? name : name.substr(0, name.find('.')));
}

/// Returns the positions of the names for which `matches` is true.
template <class Matches>
std::vector<std::uint32_t> positions(std::span<const std::string> names, Matches matches) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    if (matches(names[i])) found.push_back(i);
  }
  return found;
}

}  // namespace

void check_host_name(std::string_view name, const std::string& where) {
  if (!name.empty() && name.size() <= kLongestName && name.front() != '-' && std::ranges::all_of(name, allowed)) return;
  throw Error(Code::kInvalidArgument,
              "{}: {} cannot be the name of a host; allowed: 1 to {} letters, digits, '.', '-', '_' and ':'", where,
              shown(name), kLongestName);
}

std::uint32_t own_number(std::span<const std::string> names, const ProcessFacts& facts, const std::string& where,
                         std::string_view source) {
  const std::string own = lower(facts.host_name);
  auto found = positions(names, [&](const std::string& name) {
    return lower(name) == own || std::ranges::find(facts.addresses, name) != facts.addresses.end();
  });
  if (found.empty()) {
    found = positions(names, [&](const std::string& name) { return first_label(name) == first_label(own); });
  }
  if (found.size() == 1) return found.front();
  throw Error(Code::kNotFound, "{}: this host is called {}, and {} of the {} hosts in {} have this name: {}", where,
              shown(facts.host_name), found.empty() ? "none" : std::to_string(found.size()), names.size(), source,
              short_list(names));
}

std::string short_list(std::span<const std::string> names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + shown(names[i], false);
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

}  // namespace trainyard::environments
