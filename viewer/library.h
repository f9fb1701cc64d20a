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

/// All runs that a viewer shows. Thread-safe.
class Library {
 public:
  /// A run: its book, and the follower that fills the book if the run is live.
  struct Entry {
    std::shared_ptr<Book> book;
    std::shared_ptr<Follower> follower;  ///< Null for a past run.
  };

  /// The maximum number of runs. A new run replaces the oldest run that has ended; if none has ended, it is not added.
  static constexpr std::size_t kMaxRuns = 1000;

  explicit Library(OnAlert on_alert) : on_alert_(std::move(on_alert)) {}
  ~Library();

  /// Follows a running launch, unless it is followed already.
  void follow(const visitors::RunInfo& run);
  /// Opens the past runs in a folder and its subfolders. They are read on a separate thread. A run that has not ended
  /// is followed instead. Throws kNotFound if there is no such folder, and kInvalidArgument if it contains no run.
  void open_folder(const std::string& folder);

  /// Opens a recording, unless it is open already. It is read on a separate thread. Throws the errors of RecordedRun.
  void open_recording(const std::string& path);

  /// Returns the run whose full name is `run`. Throws kNotFound, which suggests the nearest name.
  Entry find(const std::string& run) const;
  /// Returns a number that changes when a run is added or removed.
  std::vector<Entry> all() const;
  /// A number that changes when a run was added or removed.
  std::uint64_t revision() const;
  /// Returns true if every run that was followed has ended.
  bool all_over() const;

 private:
  void make_room();
  /// Returns the book of a new run, or null if the run is there already or there is no room for it.
  std::shared_ptr<Book> add(Identity identity);
  std::shared_ptr<Book> add_past_run(const archive::RunRecord& record);
  void open_recording_or_say(const std::string& path);
  /// Calls a function on a separate thread.
  void read_later(std::function<void(const std::stop_token&)> read);

  OnAlert on_alert_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::uint64_t revision_ = 0;
  std::vector<std::jthread> readers_;
};

}  // namespace trainyard::viewer
