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

/// Merges the metrics that all ranks report for the same stage (such as train or validate) and the same step. A rank
/// need not report every step: the merger waits for a rank only until it knows that the rank is past the step.
///
///     rank 0: train 10, train 20  -->  train 10 (ranks 0 and 1), train 20 (rank 0), train 30 (rank 1), in this order
///     rank 1: train 10, train 30
///
/// A value is merged over those ranks that report it. Totals (samples, units) are summed over all ranks; if a rank does
/// not report the step, its last totals are used.
class MetricsMerger {
 public:
  explicit MetricsMerger(std::uint32_t ranks) : ranks_(ranks) {}

  /// Adds the metrics of one rank. Throws kInvalidArgument for a rank that does not exist.
  void add(const RankMetrics& metrics);

  /// Records a rank's answer to an order. The answer contains the step that the rank has reached, but it can arrive
  /// before metrics that the rank sent earlier. It is therefore used only when two more answers of the rank have
  /// arrived: by then, these metrics have arrived, too, because at most two orders are open at a time.
  void answered(const OrderDone& done);

  /// Called when no more metrics will arrive. take() then returns all remaining metrics, even if ranks are missing.
  void finish();

  /// Returns the merged metrics that have become complete since the last call, sorted by step. For each stage, the
  /// steps never decrease from call to call.
  std::vector<Metrics> take();

  /// Returns the number of messages that were dropped because take() had already returned metrics of the same stage for
  /// their step or a later one.
  std::uint64_t late() const { return late_; }

 private:
  struct Totals {
    std::uint64_t samples = 0;
    std::uint64_t units = 0;
  };
  struct Rank {
    std::uint64_t reached = 0;           ///< All metrics of the rank for steps before this one have arrived.
    std::vector<std::uint64_t> answers;  ///< The steps of the last two answers, the older one first.
    Totals totals;                       ///< The largest totals that the rank has reported.
  };
  struct Entry {
    Metrics head;  ///< The merged metrics, without values and totals.
    /// The metrics of each rank. They are merged in the order of the ranks, so that the result does not depend on the
    /// order of arrival.
    std::map<std::uint32_t, RankMetrics> ranks;
  };
  struct Stage {
    std::list<Entry> open;  ///< Sorted by step; entries of the same step are in the order of arrival.
    bool began = false;
    std::uint64_t step = 0;           ///< The step of the entry that was returned last.
    std::set<std::uint32_t> without;  ///< The ranks that are missing from the entry that was returned last.
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
