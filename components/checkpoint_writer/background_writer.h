// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "components/checkpoint_writer/checkpoint_store.h"
#include "components/checkpoint_writer/state_copy.h"
#include "core/activity/own_threads.h"

namespace trainyard {

/// A thread that writes checkpoints, one after another. A second thread would only compete for the same disk, and the
/// store that names and deletes checkpoints may be used by only one thread at a time.
///
/// submit() and take_finished() are called on the component's event loop. If a write fails, take_finished() returns the
/// error, and the thread continues with the next checkpoint.
class BackgroundWriter {
 public:
  /// The result of writing one submitted state.
  struct Finished {
    std::unique_ptr<StateCopy> state;  ///< The copy, which may now be reused.
    CheckpointStore::Written written;
    std::string error;  ///< Why the checkpoint could not be written; empty if it is on disk.
    double seconds = 0;
    /// When the thread began and ended to write it, by the clock of spans, in nanoseconds.
    std::int64_t began_ns = 0, ended_ns = 0;
  };

  /// Starts the thread. After each checkpoint the thread calls `notify`; take_finished() then returns the result of
  /// this checkpoint. `activity` accounts for the time of the thread; it may be null, and must otherwise outlive this
  /// object.
  BackgroundWriter(CheckpointStore& store, std::function<void()> notify, core::OwnThreads* activity = nullptr);

  /// Finishes all submitted writes.
  ~BackgroundWriter();

  /// Submits a copy for writing and returns without waiting. take_finished() returns the copy later.
  void submit(std::unique_ptr<StateCopy> state);

  /// Returns the results that are new since the last call, in the order of submission.
  std::vector<Finished> take_finished();

  /// Blocks until every submitted checkpoint has been written or has failed.
  void wait_until_idle();

 private:
  void run(std::stop_token stop);
  Finished write(std::unique_ptr<StateCopy> state);

  CheckpointStore& store_;
  std::function<void()> notify_;
  core::OwnThreads* activity_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::unique_ptr<StateCopy>> waiting_;
  bool writing_ = false;
  std::vector<Finished> finished_;
  std::jthread thread_;  ///< Declared last, because the thread uses all members above.
};

}  // namespace trainyard
