// SPDX-License-Identifier: Apache-2.0
#include "viewer/log_shelf.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>
#include <utility>

#include "viewer/shown_text.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

/// Returns the same hash for a record from a message and from the file. The time in the file is in microseconds, so
/// nanoseconds are ignored.
std::uint64_t hash_of(const LogRecord& record) {
  const std::hash<std::string_view> hash;
  return hash(record.text) * 31 + hash(record.component) * 17 + static_cast<std::uint64_t>(record.time_ns / 1000);
}

bool contains(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return part.empty() || !std::ranges::search(text, part, {}, lower, lower).empty();
}

bool matches(const LogRecord& record, const LogRequest& request) {
  return record.level >= request.level && (request.component.empty() || record.component == request.component) &&
         contains(record.text, request.text);
}

}  // namespace

bool LogShelf::add(const LogRecord& record) {
  if (!known_.add(hash_of(record))) return false;
  records_.add({record.time_ns, record.level, shown_line(record.component), shown_text(record.text)});
  return true;
}

json LogShelf::find(const LogRequest& request) const {
  std::vector<json> newest_first;
  std::uint64_t number = std::min(request.before.value_or(records_.end()), records_.end());
  while (number > records_.first() && newest_first.size() < request.limit) {
    --number;
    if (matches(records_.at(number), request)) newest_first.push_back(json_at(number));
  }
  std::ranges::reverse(newest_first);
  return {{"records", std::move(newest_first)}, {"total", records_.end()}};
}

void LogShelf::append_news(std::uint64_t& position, std::vector<json>& news) const {
  json records = take_news(records_, position, [this](std::uint64_t number) { return json_at(number); });
  if (!records.empty()) news.push_back({{"push", "log"}, {"records", std::move(records)}});
}

json LogShelf::json_at(std::uint64_t number) const {
  const LogRecord& record = records_.at(number);
  return {{"number", number},
          {"time_ns", record.time_ns},
          {"level", name_of(record.level)},
          {"component", record.component},
          {"text", record.text}};
}

}  // namespace trainyard::viewer
