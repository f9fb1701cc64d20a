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

/// Writes checkpoints on a thread of its own, one after another. One thread, because a second would only compete for
/// the same disk, and because the store that names and deletes checkpoints is used by one at a time.
///
/// submit() and take_finished() are called on the component's loop. What goes wrong in a write is a result, not an
/// exception: the writer goes on with the next.
class BackgroundWriter {
 public:
  /// What became of one submitted state.
  struct Finished {
    std::unique_ptr<StateCopy> state;  ///< To be used again.
    CheckpointStore::Written written;
    std::string error;  ///< Empty: it is on disk.
    double seconds = 0;
  };

  /// `notify` is called on the writing thread after each; the result then waits in take_finished().
  BackgroundWriter(CheckpointStore& store, std::function<void()> notify);

  /// Finishes what was submitted.
  ~BackgroundWriter();

  /// Takes the copy over until it comes back in take_finished(). Returns at once.
  void submit(std::unique_ptr<StateCopy> state);

  /// What was finished since the last call, in order.
  std::vector<Finished> take_finished();

  /// Blocks until everything submitted is finished.
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
  std::jthread thread_;  ///< Last: it uses all of the above.
};

}  // namespace trainyard
