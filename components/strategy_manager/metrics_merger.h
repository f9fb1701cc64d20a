// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/metrics.h"
#include "messages/order.h"
#include "messages/reduction.h"

namespace trainyard::manager {

/// A collector that merges the metrics of the ranks for the same stage and step. A rank need not report every step: the
/// merger waits for a rank only until this rank has passed the step.
///
///     rank 0: train 10, train 20         -->  train 10 (0 and 1), train 20 (0), train 30 (1), in this order
///     rank 1: train 10,           train 30
///
/// Values are merged over the ranks that have them. Totals (samples, units) are added up over all ranks; for a missing
/// rank, its last totals are used.
class MetricsMerger {
 public:
  explicit MetricsMerger(std::uint32_t ranks) : ranks_(ranks) {}

  /// Adds the metrics of one rank. Throws kInvalidArgument for a rank that does not exist.
  void add(const RankMetrics& metrics);

  /// Records a rank's answer to an order, which shows how far the rank has come. Answers and metrics may overtake each
  /// other, so the merger uses the rank's last answer but two. Only two orders are open at a time, so that earlier
  /// order was already done when the order of this answer was sent.
  void answered(const OrderDone& done);

  /// Declares that no more metrics will arrive. Every open entry then counts as complete.
  void finish();

  /// Returns the merged metrics that have become complete since the last call, sorted by step. For each stage, steps
  /// never decrease.
  std::vector<Metrics> take();

  /// Returns the number of messages that were dropped, because they arrived after their step had been returned without
  /// them.
  std::uint64_t late() const { return late_; }

 private:
  struct Totals {
    std::uint64_t samples = 0;
    std::uint64_t units = 0;
  };
  struct Rank {
    std::uint64_t reached = 0;           ///< All metrics of the rank for earlier steps than this have arrived.
    std::vector<std::uint64_t> answers;  ///< The steps of the last two answers, the older one first.
    Totals totals;                       ///< The largest totals that the rank has reported.
  };
  struct Entry {
    Metrics head;  ///< Everything except values and totals.
    /// The metrics of the ranks. They are merged in the order of the ranks, so the result does not depend on the order
    /// of arrival.
    std::map<std::uint32_t, RankMetrics> ranks;
  };
  struct Stage {
    std::list<Entry> open;  ///< Sorted by step; entries of the same step are in the order of arrival.
    bool began = false;
    std::uint64_t step = 0;           ///< The step of the newest entry that was returned.
    std::set<std::uint32_t> without;  ///< The ranks that were missing from the newest entry that was returned.
  };

  bool is_late(const Stage& stage, const RankMetrics& metrics) const;
  static Entry& entry_for(Stage& stage, const RankMetrics& metrics);
  bool complete(const Entry& entry) const;
  Metrics close(Stage& stage);

  std::uint32_t ranks_;
  std::map<std::uint32_t, Rank> known_;
  std::map<std::string, Stage> stages_;
  bool finished_ = false;
  std::uint64_t late_ = 0;
};

}  // namespace trainyard::manager
