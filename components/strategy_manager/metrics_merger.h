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

/// Makes what ranks say about the same stage and step into one. Any of them may have nothing to say: a rank is waited
/// for only until it has got further, since ranks are in step.
///
///     rank 0: train 10, train 20         -->  train 10 (0 and 1), train 20 (0), train 30 (1), in this order
///     rank 1: train 10,           train 30
///
/// Values are merged over the ranks that have them. Totals (samples, units) are those of all ranks; of one that is
/// missing, as they were when it spoke last.
class MetricsMerger {
 public:
  explicit MetricsMerger(std::uint32_t ranks) : ranks_(ranks) {}

  /// Throws kInvalidArgument for a rank or a reduction that there is not.
  void add(const RankMetrics& metrics);

  /// An answer tells how far its rank has got. Orders and metrics have no order among them on their way, so only the
  /// last but one before it counts: two are open at a time, and that one was settled before this was given.
  void answered(const OrderDone& done);

  /// Nothing more will come: what is there is complete.
  void finish();

  /// What has become complete, by step. For each stage, steps never go back.
  std::vector<Metrics> take();

  /// Messages that came when their step had been given out without them; they were dropped.
  std::uint64_t late() const { return late_; }

 private:
  struct Totals {
    std::uint64_t samples = 0;
    std::uint64_t units = 0;
  };
  struct Rank {
    std::uint64_t reached = 0;           ///< Nothing before this step will come any more.
    std::vector<std::uint64_t> answers;  ///< Steps of the last two, the older one first.
    Totals totals;                       ///< When it spoke last.
  };
  struct Entry {
    Metrics head;  ///< Everything but values and totals.
    /// What those said that have spoken. Added up in their order at last, so that the result does not depend on who
    /// came first.
    std::map<std::uint32_t, RankMetrics> ranks;
  };
  struct Stage {
    std::list<Entry> open;  ///< By step. A stage may come twice at a step: in order of arrival.
    bool began = false;
    std::uint64_t step = 0;           ///< Of the newest that was given out...
    std::set<std::uint32_t> without;  ///< ... and the ranks that were missing.
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
