// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "viewer/book.h"
#include "viewer/live_alerts.h"
#include "viewer/run_file.h"

namespace trainyard::viewer {

/// Enters the metrics and the log of a running launch into its book (everything that the viewer knows about the run),
/// in the right order and without duplicates. There are two sources: messages, and the logger's files. The files
/// contain what happened before the follower attached, and messages that it has missed. Messages are held back until
/// the data from before the follower attached ("the past") has been read from the files. Call catch_up() until
/// caught_up() returns true, then read_files() from time to time, and finish() when the run has ended.
class LiveIntake {
 public:
  /// All objects passed by reference must outlive this object.
  LiveIntake(const Identity& identity, Book& book, LiveAlerts& alerts);

  /// Processes a message. If the past has been read, the message is entered into the book immediately; otherwise it is
  /// held back until then.
  void take(const Metrics& metrics);
  void take(const LogRecord& record);

  /// Reads a part of the past. When all of it has been read, enters the messages that were held back.
  void catch_up();
  /// Returns true if the past has been read.
  bool caught_up() const { return caught_up_; }
  /// Reads a part of the new data in the files. Returns true if there is more to read.
  bool read_files();
  /// Reads the rest of the files, and enters the messages that were held back.
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
