// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "checkpoints/run_record.h"
#include "components/checkpoint_writer/retention.h"
#include "components/checkpoint_writer/state_copy.h"

namespace trainyard {

/// A directory of checkpoints and the rule by which they are kept. It deletes only what it wrote itself or was told to
/// adopt. One thread may use it at a time: the component's until the first snapshot, the writer's from then on.
class CheckpointStore {
 public:
  /// The options are fixed for the run. The directory must exist.
  struct Options {
    std::string directory;
    std::string monitor;  ///< The name of the metric that decides which checkpoint is best.
    RetentionRule rule;
    bool save_optimizer = true;
    std::uint32_t ranks = 1;  ///< The number of ranks of the run.
  };
  explicit CheckpointStore(Options options) : options_(std::move(options)) {}

  /// Takes over the checkpoints that are in the directory as an earlier part of this run. Those beyond `resumed_step`
  /// belong to a future that was given up, and are deleted first.
  void adopt(std::uint64_t resumed_step);

  /// Sets what is fixed for the run and goes into every run.json.
  void describe(std::string model, std::string optimizer, std::map<std::string, double> hyperparameters);

  /// A checkpoint that is on disk under its name.
  struct Written {
    std::string path;
    std::uint64_t bytes = 0;
    std::vector<std::string> warnings;  ///< What went wrong after the checkpoint was safe.
  };

  /// Writes, syncs and names a checkpoint, then moves the pointers and deletes what the rule does not keep. If it
  /// throws kIo, nothing has changed.
  Written write(const StateCopy& state);

 private:
  // Returns the size of all files.
  std::uint64_t write_files(const StateCopy& state, const std::string& directory) const;
  checkpoints::RunRecord record_of(const Snapshot& snapshot) const;
  // The value of the monitored metric, if it is there and finite.
  std::optional<double> value_of(const std::vector<Scalar>& metrics) const;
  void remember(StoredCheckpoint checkpoint);
  // Moves the pointers and deletes checkpoints. It throws nothing.
  void tidy(std::vector<std::string>& warnings);

  Options options_;
  std::string model_, optimizer_;
  std::map<std::string, double> hyperparameters_;
  std::vector<StoredCheckpoint> stored_;  ///< The checkpoints that belong to this run, in the order of writing.
};

}  // namespace trainyard
