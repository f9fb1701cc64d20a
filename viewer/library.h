// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "archive/run_record.h"
#include "viewer/book.h"
#include "viewer/follower.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// The runs that a viewer shows. All functions are thread-safe.
class Library {
 public:
  /// A run: its book, which contains everything that the viewer knows about it, and, if the run is live, the follower
  /// that fills the book.
  struct Entry {
    std::shared_ptr<Book> book;
    std::shared_ptr<Follower> follower;  ///< Null for a past run and for a recording.
  };

  /// The maximum number of runs; further runs are not added. However, when a running launch is to be followed and there
  /// is no room, the oldest run that has ended is removed.
  static constexpr std::size_t kMaxRuns = 1000;

  explicit Library(OnAlert on_alert) : on_alert_(std::move(on_alert)) {}
  ~Library();

  /// Follows a running launch, unless it is already being followed.
  void follow(const visitors::RunInfo& run);
  /// Opens the past runs in a folder and its subfolders, and the recordings in the folder itself. They are read on a
  /// separate thread. A run that is still running is followed instead. Throws kNotFound if there is no such folder, and
  /// kInvalidArgument if it is not a folder or contains no run.
  void open_folder(const std::string& folder);

  /// Opens a recording, unless it is already open. It is read on a separate thread. Throws what the constructor of
  /// RecordedRun throws.
  void open_recording(const std::string& path);

  /// Returns the run whose full name is `run`. Throws kNotFound if there is none; the error message suggests the most
  /// similar name.
  Entry find(const std::string& run) const;
  /// Returns all runs, sorted by their start times, the newest first.
  std::vector<Entry> all() const;
  /// Returns a number that changes whenever a run is added or removed.
  std::uint64_t revision() const;
  /// Returns true if all runs that were followed have ended.
  bool all_over() const;

 private:
  void make_room();
  /// Adds a run and returns its book. Returns null if the run is already present or there is no room for it.
  std::shared_ptr<Book> add(Identity identity);
  std::shared_ptr<Book> add_past_run(const archive::RunRecord& record);
  void open_recording_or_say(const std::string& path);
  /// Calls `read` on a separate thread.
  void read_later(std::function<void(const std::stop_token&)> read);

  OnAlert on_alert_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::uint64_t revision_ = 0;
  std::vector<std::jthread> readers_;
};

}  // namespace trainyard::viewer
