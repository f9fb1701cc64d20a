// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard {

/// A directory in which a checkpoint is written before it gets its name. It is locked while its process lives, so that
/// what a killed process left behind can be distinguished from what another is writing now. It is removed unless it was
/// published.
class TemporaryCheckpoint {
 public:
  /// Makes `<directory>/.tmp-<name>-<pid>-<n>`, and also `directory` if it does not exist. Throws kIo.
  TemporaryCheckpoint(std::string directory, std::string name);
  ~TemporaryCheckpoint();
  TemporaryCheckpoint(const TemporaryCheckpoint&) = delete;
  TemporaryCheckpoint& operator=(const TemporaryCheckpoint&) = delete;

  const std::string& path() const { return path_; }

  /// Makes the checkpoint durable under its name and returns the path. If the name exists already, the old checkpoint
  /// is put aside and removed if `replace` is true; otherwise the new one's name gets a suffix: ".2", ".3", ... path()
  /// must not be used afterwards. Throws kIo.
  std::string publish(bool replace);

 private:
  std::string directory_;
  std::string name_;
  std::string path_;  ///< Empty if there is nothing to remove.
  int lock_ = -1;
};

/// Removes a published checkpoint. It loses its name first, so if the process is killed meanwhile, there is a leftover
/// that sweep_temporaries() removes, and never a named checkpoint with files missing. Does nothing if the checkpoint is
/// gone already. Throws kIo.
void remove_checkpoint(const std::string& path);

/// Removes what killed processes left in `directory`. Returns how many directories there were.
int sweep_temporaries(const std::string& directory);

/// Makes `<directory>/<pointer>` lead to `name`, atomically: a reader sees the old or the new target, and never
/// nothing.
void set_pointer(const std::string& directory, const std::string& pointer, const std::string& name);

}  // namespace trainyard
