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

/// Writes checkpoints on a separate thread, one after another. More threads would only compete for the same disk, and
/// CheckpointStore may be used by only one thread at a time.
///
/// The checkpoint writer calls submit() and take_finished() on the thread of its event loop. If a write fails,
/// take_finished() returns the error, and the thread continues with the next checkpoint.
class BackgroundWriter {
 public:
  /// The result of writing one checkpoint.
  struct Finished {
    std::unique_ptr<StateCopy> state;  ///< The copy that was passed to submit(), for reuse.
    /// Set if `error` is empty.
    CheckpointStore::Written written;
    std::string error;  ///< Why the checkpoint could not be written; empty if it is on disk.
    double seconds = 0;
    /// When the thread began and finished writing, in nanoseconds of core::span_clock_ns().
    std::int64_t began_ns = 0, ended_ns = 0;
  };

  /// Starts the thread, which calls `notify` after each checkpoint, as soon as take_finished() can return the result.
  /// `activity` records how busy the thread is (for `trainyard top`); it may be null. `store` and `activity` must
  /// outlive this object.
  BackgroundWriter(CheckpointStore& store, std::function<void()> notify, core::OwnThreads* activity = nullptr);

  /// Finishes all submitted writes.
  ~BackgroundWriter();

  /// Submits a copy for writing and returns immediately. take_finished() returns the copy when it has been written or
  /// the write has failed.
  void submit(std::unique_ptr<StateCopy> state);

  /// Returns the results of all writes that have ended since the last call, in the order of submission.
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
