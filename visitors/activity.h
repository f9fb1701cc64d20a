// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace trainyard::visitors {

/// The time for which a component has waited for one cause.
struct Wait {
  /// The name of the component that was waited for, or the word of `kind` if the cause is not a component.
  std::string target;
  /// The kind of the cause: "message", "room", "thread", "rank", "ranks", "device" or "others" (docs/wire_format.md).
  std::string kind;
  std::int64_t ns = 0;
};

/// The totals of one component, from one answer to the question `counters`. They only grow until the accounting ends.
/// When it begins again, they start at zero, and `began_ns` is different.
struct ComponentTotals {
  std::string component;
  std::int64_t time_ns = 0;   ///< When the totals were read. Comparable only with other times of the same process.
  std::int64_t began_ns = 0;  ///< When the accounting began.
  std::int64_t busy_ns = 0;
  std::int64_t quiet_ns = 0;  ///< How long the component had had nothing to do at `time_ns`.
  std::uint64_t messages = 0;
  std::vector<Wait> waiting;
};

/// Returns the totals of all components. `answers` is an object with the answer of each process to the question
/// `counters`. Processes that did not answer or do not measure activity are left out. So is everything that does not
/// have the expected form, because members may be written in any language.
std::vector<ComponentTotals> read_totals(const nlohmann::json& answers);

/// How a component has spent an interval. `busy` and the shares in `waiting` add up to at most 1; the rest is idle.
struct ComponentShares {
  struct Share {
    std::string target;
    std::string kind;
    double share = 0;
  };

  std::string component;
  double seconds = 0;  ///< The length of the interval, in seconds.
  double busy = 0;
  double messages_per_s = 0;
  std::vector<Share> waiting;  ///< The largest share first.

  /// Returns the share of the time for which the component waited for `target`, added up over all kinds of waiting.
  double waiting_for(const std::string& target) const;
};

/// Returns the shares of the interval from `earlier` to `later`. If `earlier` is null, or belongs to other accounting,
/// the interval begins when the accounting of `later` began.
///
/// An interval of waiting becomes part of the totals when it ends. What was waited for before `earlier` is therefore
/// left out, and waiting that has not ended at `later` counts for the cause for which the component waited most so far.
ComponentShares shares_between(const ComponentTotals* earlier, const ComponentTotals& later);

}  // namespace trainyard::visitors
