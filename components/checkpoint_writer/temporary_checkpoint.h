// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard {

/// A directory in which a checkpoint is written before it gets its name. It is locked while its process lives, so that
/// leftovers of a killed process can be distinguished from a checkpoint that another process is writing. The destructor
/// removes the directory unless it was published.
class TemporaryCheckpoint {
 public:
  /// Makes `<directory>/.tmp-<name>-<pid>-<n>`, and also `directory` if it does not exist. Throws kIo.
  TemporaryCheckpoint(std::string directory, std::string name);
  ~TemporaryCheckpoint();
  TemporaryCheckpoint(const TemporaryCheckpoint&) = delete;
  TemporaryCheckpoint& operator=(const TemporaryCheckpoint&) = delete;

  const std::string& path() const { return path_; }

  /// Makes the checkpoint durable under its name and returns the path. If the name already exists and `replace` is
  /// true, the new checkpoint replaces the old one. If `replace` is false, the name of the new checkpoint gets a
  /// suffix: ".2", ".3", ... path() must not be used afterwards. Throws kIo.
  std::string publish(bool replace);

 private:
  std::string directory_;
  std::string name_;
  std::string path_;  ///< Empty if there is nothing to remove.
  int lock_ = -1;
};

/// Removes a published checkpoint. The checkpoint is renamed first. If the process is killed meanwhile, a leftover
/// remains that sweep_temporaries() removes, and never a checkpoint with missing files. Does nothing if the checkpoint
/// does not exist. Throws kIo.
void remove_checkpoint(const std::string& path);

/// Removes the temporary directories that killed processes left in `directory`. Returns their number.
int sweep_temporaries(const std::string& directory);

/// Makes `<directory>/<pointer>` refer to `name`, atomically: a reader sees either the old or the new target. Throws
/// kIo.
void set_pointer(const std::string& directory, const std::string& pointer, const std::string& name);

}  // namespace trainyard
