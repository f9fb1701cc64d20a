// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "messages/log_record.h"
#include "messages/order.h"
#include "viewer/book.h"
#include "viewer/past_run.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// What a follower notices of a launch that tells how it ended. It is needed for a run without an output directory,
/// which has no record of its end.
class EndingClues {
 public:
  /// All objects passed by reference must outlive this object.
  EndingClues(const visitors::RunInfo& run, const Identity& identity, const Book& book)
      : run_(run), identity_(identity), book_(book) {}

  void see(const Order& order);
  void see(const LogRecord& record);

  /// Returns whether the launcher died before its processes had ended. A launcher that ends its run lives longer than
  /// they do; a follower that was too late to see that knows whether the run was told to stop or had done all steps.
  bool launcher_died() const;
  /// Returns how the run has ended: what the launcher has recorded, or else what the clues say. `killed` says whether
  /// the launcher died early.
  Ending ending(bool killed) const;

 private:
  const visitors::RunInfo& run_;
  const Identity& identity_;
  const Book& book_;
  bool stopping_ = false;  ///< The run has been told to stop.
  std::string error_;      ///< The first error that the run has logged.
};

}  // namespace trainyard::viewer
