// SPDX-License-Identifier: Apache-2.0
#include "visitors/activity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "visitors/json_fields.h"

namespace trainyard::visitors {
namespace {

using nlohmann::json;

/// How many causes are read for one component. The components of this project have at most 64; programs in other
/// languages could send more.
constexpr std::size_t kMostCauses = 1024;

/// The largest values that are accepted from an answer. A wait is limited to some weeks, so that the sum over all
/// causes of a component cannot overflow.
constexpr std::uint64_t kLongestWait = std::uint64_t{1} << 51;
constexpr std::uint64_t kLatestTime = std::uint64_t{1} << 61;

std::int64_t ns_in(const json& object, const char* key, std::uint64_t most = kLatestTime) {
  return static_cast<std::int64_t>(std::min(count_in(object, key).value_or(0), most));
}

ComponentTotals totals_of(const json& described) {
  ComponentTotals totals{.component = text_in(described, "component"),
                         .time_ns = ns_in(described, "time_ns"),
                         .began_ns = ns_in(described, "began_ns"),
                         .busy_ns = ns_in(described, "busy_ns"),
                         .quiet_ns = ns_in(described, "quiet_ns"),
                         .messages = count_in(described, "messages").value_or(0),
                         .waiting = {}};
  const auto waiting = described.find("waiting");
  if (waiting == described.end() || !waiting->is_array()) return totals;
  for (const json& wait : *waiting) {
    if (!wait.is_object() || totals.waiting.size() == kMostCauses) continue;
    totals.waiting.push_back({text_in(wait, "for"), text_in(wait, "kind"), ns_in(wait, "ns", kLongestWait)});
  }
  return totals;
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Returns how long the component waited for a cause, according to `totals`; 0 if the cause is not in it.
std::int64_t time_for(const ComponentTotals& totals, const Wait& cause) {
  for (const Wait& wait : totals.waiting) {
    if (wait.target == cause.target && wait.kind == cause.kind) return wait.ns;
  }
  return 0;
}

std::int64_t sum_of(const std::vector<Wait>& waits) {
  std::int64_t sum = 0;
  for (const Wait& wait : waits) sum += wait.ns;
  return sum;
}

/// Shortens the longest wait by `ns`. If it is shorter than that, shortens the next longest wait by the rest, and so
/// on.
void shorten(std::vector<Wait>& waits, std::int64_t ns) {
  while (ns > 0 && !waits.empty()) {
    const auto longest = std::ranges::max_element(waits, {}, &Wait::ns);
    if (longest->ns == 0) return;
    const std::int64_t taken = std::min(ns, longest->ns);
    longest->ns -= taken;
    ns -= taken;
  }
}

void lengthen(std::vector<Wait>& waits, const Wait& cause, std::int64_t ns) {
  for (Wait& wait : waits) {
    if (wait.target == cause.target && wait.kind == cause.kind) wait.ns += ns;
  }
}

}  // namespace

std::vector<ComponentTotals> read_totals(const json& answers) {
  std::vector<ComponentTotals> all;
  if (!answers.is_object()) return all;
  for (const json& answer : answers) {
    if (!answer.is_object()) continue;
    const auto activity = answer.find("activity");
    if (activity == answer.end() || !activity->is_array()) continue;
    for (const json& described : *activity) {
      if (!described.is_object()) continue;
      ComponentTotals totals = totals_of(described);
      if (!totals.component.empty() && totals.time_ns > totals.began_ns) all.push_back(std::move(totals));
    }
  }
  return all;
}

double ComponentShares::waiting_for(const std::string& target) const {
  double sum = 0;
  for (const Share& share : waiting) sum += share.target == target ? share.share : 0;
  return sum;
}

ComponentShares shares_between(const ComponentTotals* earlier, const ComponentTotals& later) {
  ComponentTotals zero;
  zero.time_ns = zero.began_ns = later.began_ns;
  const bool usable = earlier != nullptr && earlier->began_ns == later.began_ns && earlier->time_ns < later.time_ns;
  const ComponentTotals& from = usable ? *earlier : zero;
  const std::int64_t length = later.time_ns - from.time_ns;
  ComponentShares shares{.component = later.component, .seconds = seconds(length), .waiting = {}};
  if (length <= 0) return shares;

  const std::int64_t busy = std::clamp<std::int64_t>(later.busy_ns - from.busy_ns, 0, length);
  std::vector<Wait> waits = later.waiting;
  for (Wait& wait : waits) wait.ns = std::max<std::int64_t>(wait.ns - time_for(from, wait), 0);
  const std::int64_t quiet = std::min(later.quiet_ns, length);
  // The sum can exceed the length of the interval, because a wait can have begun before the interval, or while the
  // component's own threads were busy. The excess is subtracted from the waits.
  shorten(waits, busy + quiet + sum_of(waits) - length);
  const std::int64_t open = std::min(quiet, length - busy - sum_of(waits));
  if (open > 0 && !later.waiting.empty())
    lengthen(waits, *std::ranges::max_element(later.waiting, {}, &Wait::ns), open);

  shares.busy = static_cast<double>(busy) / static_cast<double>(length);
  const std::uint64_t messages = later.messages - std::min(from.messages, later.messages);
  shares.messages_per_s = static_cast<double>(messages) / shares.seconds;
  for (const Wait& wait : waits) {
    if (wait.ns <= 0) continue;
    shares.waiting.push_back({wait.target, wait.kind, static_cast<double>(wait.ns) / static_cast<double>(length)});
  }
  std::ranges::stable_sort(shares.waiting, std::ranges::greater(), &ComponentShares::Share::share);
  return shares;
}

}  // namespace trainyard::visitors
