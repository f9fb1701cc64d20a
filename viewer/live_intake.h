// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "viewer/book.h"
#include "viewer/live_alerts.h"
#include "viewer/run_file.h"

namespace trainyard::viewer {

/// Enters the metrics and the log of a launch that is followed into its book, in order and each thing once. There are
/// two sources: messages, and the files of the logger, which have what happened before the follower came and what it
/// has missed. Until this past has been read, messages wait.
class LiveIntake {
 public:
  /// All objects passed by reference must outlive this object.
  LiveIntake(const Identity& identity, Book& book, LiveAlerts& alerts);

  /// Enters a message, now or when the past has been read.
  void take(const Metrics& metrics);
  void take(const LogRecord& record);

  /// Reads a part of the past. When nothing is left of it, enters what waits.
  void catch_up();
  /// Returns whether the past has been read.
  bool caught_up() const { return caught_up_; }
  /// Reads a part of what is new in the files. Returns whether there is more.
  bool read_files();
  /// Reads all that is left in the files, and enters what waits.
  void finish();

 private:
  template <class T>
  void in_turn(const T& message);
  void enter(const Metrics& metrics);
  void enter(const LogRecord& record) { book_.add(record); }
  void enter_waiting();
  bool read_files(const RunFile::OnMetrics& on_metrics);

  Book& book_;
  LiveAlerts& alerts_;
  RunFile metrics_, insights_;
  std::vector<std::function<void()>> waiting_;
  bool caught_up_ = false;
};

}  // namespace trainyard::viewer
