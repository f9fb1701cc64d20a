// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <zmq.hpp>

#include "viewer/book.h"
#include "viewer/errands.h"
#include "viewer/live_alerts.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// Follows a running launch as a visitor (a program outside of the plan), and writes what it learns into a book, which
/// holds everything that the viewer knows about the run. It listens to topics, and once a second it requests counters
/// from the registry, the socket at which the launcher answers questions. It also reads the files that the logger
/// writes, because they contain what happened before the follower attached, and messages that it has missed. If the run
/// cannot be followed at present, for instance because its launcher is suspended, the follower enters the reason into
/// the book and tries again. Its thread ends when the run has ended; over() then returns true.
class Follower {
 public:
  /// `on_alert` is called on the follower's thread.
  Follower(visitors::RunInfo run, std::shared_ptr<Book> book, OnAlert on_alert);
  /// Ends the thread of the follower and the thread of its errands. This may take a few seconds if the launcher is
  /// suspended.
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Queues an errand (viewer/errands.h). Returns false, and drops the errand, if too many errands are waiting.
  bool post(Errand errand) { return errands_.post(std::move(errand)); }

  bool over() const { return over_; }
  /// Returns the run that is followed.
  const visitors::RunInfo& run() const { return run_; }

 private:
  class Work;

  void follow();
  // Follows the run until it ends or an error occurs. Returns false if the follower should try again.
  bool attempt(zmq::context_t& context);
  // Waits before the next attempt.
  void pause() const;

  visitors::RunInfo run_;
  std::shared_ptr<Book> book_;
  OnAlert on_alert_;
  std::atomic<bool> stop_{false}, over_{false};
  Errands errands_;
  std::thread thread_;
};

}  // namespace trainyard::viewer
