// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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
  /// Opens the past runs below a folder: every output directory with a `metrics.jsonl`. They are read on a thread of
  /// their own. Throws kNotFound if there is no such folder, and kInvalidArgument if it contains no run.
  void open_folder(const std::string& folder);

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

  OnAlert on_alert_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::uint64_t revision_ = 0;
  std::vector<std::jthread> readers_;
};

}  // namespace trainyard::viewer
