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

namespace trainyard {

/// A writer of checkpoints, which works on a separate thread, one checkpoint after another. There is one thread because
/// a second would only compete for the same disk, and because the store that names and deletes checkpoints serves one
/// thread at a time.
///
/// submit() and take_finished() are called on the component's event loop. If a write fails, take_finished() returns the
/// error, and the thread continues with the next checkpoint.
class BackgroundWriter {
 public:
  /// The result of writing one submitted state.
  struct Finished {
    std::unique_ptr<StateCopy> state;  ///< The copy, which may now be reused.
    CheckpointStore::Written written;
    std::string error;  ///< Empty if the checkpoint is on disk.
    double seconds = 0;
  };

  /// Starts the thread. After each checkpoint the thread calls `notify`; take_finished() then returns the result of
  /// this checkpoint.
  BackgroundWriter(CheckpointStore& store, std::function<void()> notify);

  /// Finishes all submitted writes.
  ~BackgroundWriter();

  /// Submits a copy for writing and returns immediately. take_finished() returns the copy afterwards.
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
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::unique_ptr<StateCopy>> waiting_;
  bool writing_ = false;
  std::vector<Finished> finished_;
  std::jthread thread_;  ///< Declared last, because the thread uses all members above.
};

}  // namespace trainyard
