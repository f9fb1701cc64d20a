// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "messages/order.h"
#include "messages/run_state.h"

namespace trainyard::manager {

/// A point in training. At equal points the parameters are the same, and training continues with the same batch.
struct Place {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;    ///< The epoch of the cursor.
  std::uint64_t samples = 0;  ///< The number of samples of this epoch that have been used.

  bool operator==(const Place&) const = default;
};

inline Place place_of(const OrderDone& done) { return {done.step, done.cursor.epoch, done.cursor.samples}; }

/// A record of the checkpoints of a run, from the plan to the disk. With its help nothing is saved twice, and the run
/// does not end before everything is on disk.
class CheckpointRecord {
 public:
  /// `step` is the ordered step at which the run begins, and `start` contains the place in training. The state at this
  /// place counts as saved, because a resumed run has read it from disk, and a new run has nothing to save yet.
  CheckpointRecord(std::uint64_t step, const RunState& start)
      : planned_(step), taken_({start.step, start.cursor.epoch, start.cursor.samples}) {}

  /// Records that a checkpoint was planned after this step.
  void plan(std::uint64_t step) { planned_ = step; }
  /// Returns true if the newest checkpoint was planned after this step.
  bool planned_at(std::uint64_t step) const { return planned_ == step; }

  /// Records that all ranks have carried out the order of a checkpoint.
  void take(std::uint64_t order, const Place& place);
  /// Returns true if the newest checkpoint was taken at this place.
  bool taken_at(const Place& place) const { return taken_ == place; }

  /// Records that a checkpoint is on disk, or could not be written. write() may be called before take() for the same
  /// checkpoint, because messages of two senders can arrive in any order.
  void write(const CheckpointDone& done);
  /// Returns true if every checkpoint that was taken is on disk or has failed.
  bool all_written() const { return unwritten_.empty(); }
  /// Returns the reason why the newest checkpoint could not be written, or an empty string if it was written.
  const std::string& error() const { return error_; }

 private:
  std::uint64_t planned_;
  Place taken_;
  std::set<std::uint64_t> unwritten_;  ///< The orders that were carried out, but whose checkpoints are not on disk yet.
  /// The orders whose checkpoints are on disk, but for which take() was not called yet.
  std::set<std::uint64_t> written_early_;
  std::string error_;
};

}  // namespace trainyard::manager
