// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checkpoints/run_record.h"
#include "components/checkpoint_writer/retention.h"
#include "components/checkpoint_writer/state_copy.h"

namespace trainyard {

/// Writes checkpoints into a directory, and deletes old ones according to a rule. It deletes only checkpoints that it
/// has written or adopted. Except for share(), only one thread may use it at a time: the thread of the checkpoint
/// writer (the component) until the first checkpoint is written, and the thread of the BackgroundWriter afterwards.
class CheckpointStore {
 public:
  /// The settings of the store, which do not change during the run. The directory must exist.
  struct Options {
    std::string directory;
    std::string monitor;  ///< The name of the metric that decides which checkpoint is best.
    RetentionRule rule;
    bool save_optimizer = true;
    std::uint32_t ranks = 1;  ///< The number of ranks of the run.
  };
  explicit CheckpointStore(Options options) : options_(std::move(options)) {}

  /// Treats the checkpoints that are already in the directory as if this run had written them, so that they can be
  /// deleted. `resumed_step` is the step at which the run resumes. Checkpoints of later steps are no longer part of the
  /// run; they count as the oldest, so they are deleted first.
  void adopt(std::uint64_t resumed_step);

  /// Sets facts about the run that are written into the file run.json of every checkpoint: the name of the model, the
  /// name of the update rule (`optimizer`; empty if the run has no optimizer), and the options of the rule.
  void describe(std::string model, std::string optimizer, std::map<std::string, double> hyperparameters);

  /// Makes the files of a checkpoint into which other hosts write, too (StateCopy::share). Any thread may call this
  /// after the last call of describe(). `state` must outlive the result. Throws kIo if this fails.
  std::unique_ptr<SharedCheckpoint> share(const StateCopy& state) const;

  /// Describes a checkpoint that has been written.
  struct Written {
    std::string path;
    std::uint64_t bytes = 0;
    /// Problems after the checkpoint was safely on disk, such as an old checkpoint that cannot be deleted.
    std::vector<std::string> warnings;
  };

  /// Writes a checkpoint under a temporary name, syncs it to disk and gives it its final name. Then moves the links
  /// "last" and "best", and deletes the checkpoints that the rule does not keep. Throws kIo if a file cannot be
  /// written, and what SharedCheckpoint::finish throws; no other checkpoint and no link has then changed.
  Written write(const StateCopy& state);

 private:
  /// A file of tensors that is to be written.
  struct TensorFile {
    const char* name = "";
    std::vector<checkpoints::SafetensorsTensor> tensors;
    const std::vector<StateSlice>& slices;  ///< `tensors` begins with the tensors of these slices, in order.
    std::map<std::string, std::string> metadata;
  };

  std::vector<TensorFile> files_of(const StateCopy& state) const;
  // Writes run.json and the manifest, which has `files` as well. Returns the total size in bytes.
  std::uint64_t complete(const StateCopy& state, const std::string& directory,
                         std::map<std::string, checkpoints::FileDigest> files) const;
  std::string publish(TemporaryCheckpoint& temporary, const std::string& name) const;
  checkpoints::RunRecord record_of(const Snapshot& snapshot) const;
  // Returns the value of the monitored metric, if there is one and it is finite.
  std::optional<double> value_of(const std::vector<Scalar>& metrics) const;
  void remember(StoredCheckpoint checkpoint);
  // Lets the link "best" refer to the best checkpoint except those with the indices `doomed`, which will be deleted.
  // Removes the link if it would otherwise refer to one of these.
  void point_to_best(const std::vector<std::size_t>& doomed,
                     const std::function<void(const char* pointer, const StoredCheckpoint& target)>& point,
                     std::vector<std::string>& warnings) const;
  // Moves the links and deletes checkpoints. Adds a warning for each problem instead of throwing.
  void tidy(std::vector<std::string>& warnings);

  Options options_;
  std::string model_, optimizer_;
  std::map<std::string, double> hyperparameters_;
  std::vector<StoredCheckpoint> stored_;  ///< The checkpoints that belong to this run, in the order of writing.
};

}  // namespace trainyard
