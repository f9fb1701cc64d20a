// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "checkpoints/run_record.h"
#include "components/checkpoint_writer/retention.h"
#include "components/checkpoint_writer/state_copy.h"

namespace trainyard {

/// A directory of checkpoints, with the rule that decides which ones are kept. The store deletes only checkpoints that
/// it wrote itself or that adopt() took over. Only one thread at a time may use it: the component's until the first
/// snapshot, and the writer's afterwards.
class CheckpointStore {
 public:
  /// The settings of the store, which are fixed for the run. The directory must exist.
  struct Options {
    std::string directory;
    std::string monitor;  ///< The name of the metric that decides which checkpoint is best.
    RetentionRule rule;
    bool save_optimizer = true;
    std::uint32_t ranks = 1;  ///< The number of ranks of the run.
  };
  explicit CheckpointStore(Options options) : options_(std::move(options)) {}

  /// Takes over the checkpoints in the directory as an earlier part of this run. First deletes the checkpoints of steps
  /// after `resumed_step`, because they are no longer part of the run.
  void adopt(std::uint64_t resumed_step);

  /// Sets the values that are written into every run.json and stay the same during the run.
  void describe(std::string model, std::string optimizer, std::map<std::string, double> hyperparameters);

  /// The result of writing a checkpoint, which is then on disk under its name.
  struct Written {
    std::string path;
    std::uint64_t bytes = 0;
    std::vector<std::string> warnings;  ///< The problems that occurred after the checkpoint was safely on disk.
  };

  /// Writes, syncs and names a checkpoint, then moves the pointers ("last" and "best") and deletes what the rule does
  /// not keep. If it throws kIo, no other checkpoint and no pointer has changed.
  Written write(const StateCopy& state);

 private:
  // Writes the files of a checkpoint and returns their total size in bytes.
  std::uint64_t write_files(const StateCopy& state, const std::string& directory) const;
  checkpoints::RunRecord record_of(const Snapshot& snapshot) const;
  // Returns the value of the monitored metric, if there is one and it is finite.
  std::optional<double> value_of(const std::vector<Scalar>& metrics) const;
  void remember(StoredCheckpoint checkpoint);
  // Moves the pointers and deletes checkpoints. Problems become warnings, not exceptions.
  void tidy(std::vector<std::string>& warnings);

  Options options_;
  std::string model_, optimizer_;
  std::map<std::string, double> hyperparameters_;
  std::vector<StoredCheckpoint> stored_;  ///< The checkpoints that belong to this run, in the order of writing.
};

}  // namespace trainyard
