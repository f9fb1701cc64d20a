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
  /// One run: its book, and who fills it if the run is live.
  struct Entry {
    std::shared_ptr<Book> book;
    std::shared_ptr<Follower> follower;  ///< Null for a past run.
  };

  /// Further runs are not added. The oldest run that has ended makes room for a new one.
  static constexpr std::size_t kMaxRuns = 1000;

  explicit Library(OnAlert on_alert) : on_alert_(std::move(on_alert)) {}
  ~Library();

  /// Follows a running launch, unless it is followed already.
  void follow(const visitors::RunInfo& run);
  /// Opens the past runs in a folder and below it. They are read on a thread of their own. A run that is still under
  /// way is followed instead. Throws kNotFound if there is no such folder, and kInvalidArgument if it contains no run.
  void open_folder(const std::string& folder);

  /// Opens a recording, unless it is open already. It is read on a thread of its own. Throws as RecordedRun does.
  void open_recording(const std::string& path);

  /// Returns the run whose full name is `run`. Throws kNotFound with the nearest name.
  Entry find(const std::string& run) const;
  /// Returns all runs, the newest first.
  std::vector<Entry> all() const;
  /// A number that changes when a run was added or removed.
  std::uint64_t revision() const;
  /// Returns whether every run that was followed has ended.
  bool all_over() const;

 private:
  void make_room();
  /// Returns the book of a new run, or null if the run is there already or there is no room for it.
  std::shared_ptr<Book> add(Identity identity);
  std::shared_ptr<Book> add_past_run(const archive::RunRecord& record);
  void open_recording_or_say(const std::string& path);
  /// Calls a function on a thread of its own.
  void read_later(std::function<void(const std::stop_token&)> read);

  OnAlert on_alert_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::uint64_t revision_ = 0;
  std::vector<std::jthread> readers_;
};

}  // namespace trainyard::viewer
