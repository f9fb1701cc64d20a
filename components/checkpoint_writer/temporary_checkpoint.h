// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard {

/// A temporary directory in which a checkpoint is written before it gets its final name. It is locked as long as this
/// object exists, so that sweep_temporaries() can distinguish it from the directories that killed processes have left.
/// The destructor removes the directory unless it was published.
class TemporaryCheckpoint {
 public:
  /// Makes the directory `<directory>/.tmp-<name>-<pid>-<n>`, where n is the first free number, and also `directory` if
  /// it does not exist. `name` is the final name of the checkpoint. Throws kIo if a directory cannot be made.
  TemporaryCheckpoint(std::string directory, std::string name);
  ~TemporaryCheckpoint();
  TemporaryCheckpoint(const TemporaryCheckpoint&) = delete;
  TemporaryCheckpoint& operator=(const TemporaryCheckpoint&) = delete;

  const std::string& path() const { return path_; }

  /// Renames the directory to the final name of the checkpoint, syncs the directories to disk, and returns the new
  /// path. The files must already have been synced. If a checkpoint of this name exists already, the new one replaces
  /// it if `replace` is true; otherwise the new one gets the first free suffix: ".2", ".3", ... path() must not be used
  /// afterwards. Throws kIo if this fails.
  std::string publish(bool replace);

 private:
  std::string directory_;
  std::string name_;
  std::string path_;  ///< Empty if there is nothing to remove.
  int lock_ = -1;
};

/// Removes a checkpoint. Its directory is first renamed to a temporary name, so that a process that is killed in the
/// meantime leaves a temporary directory and not a checkpoint with missing files. Does nothing if the checkpoint does
/// not exist. Throws kIo if it cannot be removed.
void remove_checkpoint(const std::string& path);

/// Removes the temporary directories that killed processes have left in `directory`. Returns the number of removed
/// directories.
int sweep_temporaries(const std::string& directory);

/// Makes the symbolic link `<directory>/<pointer>` refer to `name`. The change is atomic: a reader sees either the old
/// or the new target. Throws kIo if this fails.
void set_pointer(const std::string& directory, const std::string& pointer, const std::string& name);

}  // namespace trainyard
