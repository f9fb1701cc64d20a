// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "viewer/book.h"
#include "viewer/live_alerts.h"
#include "viewer/run_file.h"

namespace trainyard::viewer {

/// Enters the metrics and the log of a live run into its book, in order and without duplicates. They come from two
/// sources: messages, and the files of the logger, which also contain what happened before the follower started and
/// what it has missed. Messages wait until this past has been read.
class LiveIntake {
 public:
  /// All objects passed by reference must outlive this object.
  LiveIntake(const Identity& identity, Book& book, LiveAlerts& alerts);

  /// Enters a message, now or when the past has been read.
  void take(const Metrics& metrics);
  void take(const LogRecord& record);

  /// Reads a part of the past. When all of it has been read, enters the waiting messages.
  void catch_up();
  /// Returns whether the past has been read.
  bool caught_up() const { return caught_up_; }
  /// Reads a part of the new content of the files. Returns true if there is more to read.
  bool read_files();
  /// Reads all remaining content of the files, and enters the waiting messages.
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
