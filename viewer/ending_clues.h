// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "messages/log_record.h"
#include "messages/order.h"
#include "viewer/book.h"
#include "viewer/past_run.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// Observations that tell how a launch has ended. They are needed for a run without an output directory, because such a
/// run has no record of its end.
class EndingClues {
 public:
  /// All objects passed by reference must outlive this object.
  EndingClues(const visitors::RunInfo& run, const Identity& identity, const Book& book)
      : run_(run), identity_(identity), book_(book) {}

  void see(const Order& order);
  void see(const LogRecord& record);

  /// Returns true if the launcher died before its processes ended. A launcher that ends its run properly lives longer
  /// than its processes. If the follower could not observe this order, it uses what it knows: whether the run was told
  /// to stop or had done all of its steps.
  bool launcher_died() const;
  /// Returns how the run has ended, from the record of the launcher or else from the observations. `killed` tells
  /// whether the launcher died before its processes.
  Ending ending(bool killed) const;

 private:
  const visitors::RunInfo& run_;
  const Identity& identity_;
  const Book& book_;
  bool stopping_ = false;  ///< True if the run has been told to stop.
  std::string error_;      ///< The first error that the run has logged.
};

}  // namespace trainyard::viewer
