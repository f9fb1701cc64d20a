// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "messages/order.h"
#include "messages/run_state.h"

namespace trainyard::manager {

/// A point in training, at which a checkpoint can be saved. If two points of a run are equal, the parameters at both
/// are the same, and training continues with the same batch.
struct Place {
  std::uint64_t step = 0;     ///< The number of updates so far; skipped steps are not counted.
  std::uint64_t epoch = 0;    ///< The epoch in which training continues.
  std::uint64_t samples = 0;  ///< The number of samples of this epoch that have been used.

  bool operator==(const Place&) const = default;
};

inline Place place_of(const OrderDone& done) { return {done.step, done.cursor.epoch, done.cursor.samples}; }

/// Keeps track of which checkpoints of a run have been planned, taken (ordered and copied) and written to disk. With
/// it, the strategy manager avoids saving a state twice, and ends the run only when all checkpoints are on disk.
class CheckpointRecord {
 public:
  /// `step` is the number of steps, including skipped ones, that were made before the run resumed (0 if it did not
  /// resume), and `start` is the position at which the run begins. The state at this position counts as saved, because
  /// a resumed run has read it from disk, and a new run has nothing to save yet.
  CheckpointRecord(std::uint64_t step, const RunState& start)
      : planned_(step), taken_({start.step, start.cursor.epoch, start.cursor.samples}) {}

  /// Records that a checkpoint after step `step` has been planned. This number, too, includes skipped steps.
  void plan(std::uint64_t step) { planned_ = step; }
  /// Returns true if the checkpoint that was planned most recently is the one after step `step`.
  bool planned_at(std::uint64_t step) const { return planned_ == step; }

  /// Records that all ranks have carried out the order with the id `order`, which saves a checkpoint at `place`.
  void take(std::uint64_t order, const Place& place);
  /// Returns true if the most recent checkpoint was taken at this place.
  bool taken_at(const Place& place) const { return taken_ == place; }

  /// Records that a checkpoint is on disk or could not be written. Can be called before take(), because the messages of
  /// the checkpoint writer can arrive earlier than those of the accelerator hosts.
  void write(const CheckpointDone& done);
  /// Returns true if every checkpoint for which take() was called is on disk or has failed.
  bool all_written() const { return unwritten_.empty(); }
  /// Returns the reason why the most recent checkpoint could not be written, or an empty string if it was written or
  /// there has been none.
  const std::string& error() const { return error_; }

 private:
  std::uint64_t planned_;
  Place taken_;
  std::set<std::uint64_t> unwritten_;      ///< The ids of orders whose checkpoints are not on disk yet.
  std::set<std::uint64_t> written_early_;  ///< The ids of orders for which write() was called before take().
  std::string error_;
};

}  // namespace trainyard::manager
