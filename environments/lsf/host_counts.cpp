// SPDX-License-Identifier: Apache-2.0
#include "environments/lsf/host_counts.h"

#include <algorithm>
#include <set>

#include "environments/allocation.h"
#include "environments/variable_reader.h"
#include "messages/error.h"

namespace trainyard::lsf {
namespace {

constexpr std::uint32_t kMostSlots = 1'000'000;

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(kSpace); begin != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kSpace, end);
  }
  return words;
}

}  // namespace

std::vector<std::string> hosts_with_counts(std::string_view text, const std::string& where) {
  const std::vector<std::string_view> words = words_of(text);
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (environments::parse_number(words[i + 1], 1, kMostSlots)) hosts.emplace_back(words[i]);
  }
  if (!hosts.empty() && hosts.size() * 2 == words.size() && hosts.size() <= environments::kMostHosts) return hosts;
  throw Error(Code::kInvalidArgument,
              "{}: LSB_MCPU_HOSTS is {}; allowed: hosts with their numbers of slots, such as 'a 4 b 4'", where,
              environments::shown(text));
}

std::vector<std::string> hosts_of_slots(std::string_view text) {
  std::vector<std::string> hosts;
  std::set<std::string_view> seen;
  for (const std::string_view word : words_of(text)) {
    if (seen.insert(word).second) hosts.emplace_back(word);
  }
  return hosts;
}

}  // namespace trainyard::lsf
