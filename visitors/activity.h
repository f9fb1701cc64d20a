// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace trainyard::visitors {

/// How long a component has waited because of one cause, such as another component.
struct Wait {
  /// The name of the component for which it waited. If the cause is not a component, this is the same word as `kind`.
  std::string target;
  /// The kind of the cause, such as "message" for a message, "room" for room on an edge (a connection to a receiver),
  /// "rank" for another rank, or "thread" for its turn on a thread that it shares with other components.
  /// docs/wire_format.md lists all kinds.
  std::string kind;
  std::int64_t ns = 0;
};

/// How one component has spent its time since its process began to measure this. Processes measure only while an
/// observer asks them to (RunObserver). While a process measures, the totals never decrease (`quiet_ns` is not a
/// total). When it begins to measure again, they start at zero, and `began_ns` is different.
struct ComponentTotals {
  std::string component;
  std::int64_t time_ns = 0;   ///< When the totals were read. Comparable only with other times of the same process.
  std::int64_t began_ns = 0;  ///< When the process began to measure.
  std::int64_t busy_ns = 0;
  /// How long the component had been without work at `time_ns`; 0 if it was working. This time is not part of `waiting`
  /// yet, because only the next work shows what the component has waited for.
  std::int64_t quiet_ns = 0;
  std::uint64_t messages = 0;
  std::vector<Wait> waiting;
};

/// Returns the totals of all components. `answers` is a JSON object with the answer of each process to the call
/// `counters` (docs/wire_format.md, section 2). Processes that did not answer or do not measure are left out.
/// Everything that does not have the expected form is ignored, because a process may be a program in another language.
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

  /// Returns the fraction of the interval during which the component waited for `target`, whatever the kind of waiting.
  double waiting_for(const std::string& target) const;
};

/// Returns the shares of the interval from `earlier` to `later`. If `earlier` is null, or if its `began_ns` differs
/// from that of `later`, the interval begins at `later.began_ns`.
///
/// Time without work (ComponentTotals::quiet_ns) is added to `waiting` only when it ends, so two corrections are
/// necessary. The part of such a wait that lies before `earlier` is subtracted. A wait that has not ended at `later` is
/// attributed to the cause for which the component has waited longest in total.
ComponentShares shares_between(const ComponentTotals* earlier, const ComponentTotals& later);

}  // namespace trainyard::visitors
