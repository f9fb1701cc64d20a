// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "viewer/book.h"
#include "visitors/registry_client.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// What a follower tells, apart from what it writes into the book. It is called on the follower's thread.
using OnAlert = std::function<void(const Identity& run, const Alert& alert)>;

/// Follows a running launch as a visitor, and writes what it learns into a book. It listens to topics, asks the
/// registry for counters once a second, and reads the file that the logger writes, which contains what happened before
/// the follower came and what it has missed. It ends by itself when the run has ended.
class Follower {
 public:
  Follower(visitors::RunInfo run, std::shared_ptr<Book> book, OnAlert on_alert);
  /// Ends the threads. May take some seconds if the launcher is suspended.
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Something to ask of the registry, such as to change a parameter. It may take long, and so has a thread of its own.
  using Errand = std::function<void(visitors::RegistryClient& registry)>;
  /// Queues an errand. Returns false if too many wait.
  bool post(Errand errand);

  bool over() const { return over_; }
  /// Returns the run that is followed.
  const visitors::RunInfo& run() const { return run_; }

 private:
  class Work;

  void follow();
  void run_errands();

  visitors::RunInfo run_;
  std::shared_ptr<Book> book_;
  OnAlert on_alert_;
  std::atomic<bool> stop_{false}, over_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Errand> errands_;
  std::thread follower_, runner_;
};

}  // namespace trainyard::viewer
