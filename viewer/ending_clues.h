// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "messages/log_record.h"
#include "messages/order.h"
#include "viewer/book.h"
#include "viewer/past_run.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// Determines, from the orders and log records that a follower has received, how a launch ended. This is needed for a
/// run without an output directory, because nothing records how such a run ended.
class EndingClues {
 public:
  /// All objects passed by reference must outlive this object.
  EndingClues(const visitors::RunInfo& run, const Identity& identity, const Book& book)
      : run_(run), identity_(identity), book_(book) {}

  void see(const Order& order);
  void see(const LogRecord& record);

  /// Returns true if the launcher seems to have died before the processes of its run. It returns false if the launcher
  /// is alive, if the run was told to stop, or if the run has completed all its steps: in these cases the launcher ends
  /// the run itself, and outlives the other processes.
  bool launcher_died() const;
  /// Returns how the run has ended, according to the launch record or, if it records no end, according to the messages.
  /// `killed` is true if the launcher died early; see launcher_died().
  Ending ending(bool killed) const;

 private:
  const visitors::RunInfo& run_;
  const Identity& identity_;
  const Book& book_;
  bool stopping_ = false;  ///< True if the run has been told to stop.
  std::string error_;      ///< The first error that the run has logged.
};

}  // namespace trainyard::viewer
