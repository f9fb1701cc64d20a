#pragma once

#include <string>

namespace trainyard {

/// A directory in which a checkpoint is written before it gets its name. It is locked while its process lives, so that
/// what a killed process left behind can be told from what another is writing now, and is removed unless it was
/// published.
class TemporaryCheckpoint {
 public:
  /// Makes `<directory>/.tmp-<name>-<pid>-<n>`, and `directory` too if somebody has removed it. Throws kIo.
  TemporaryCheckpoint(std::string directory, std::string name);
  ~TemporaryCheckpoint();
  TemporaryCheckpoint(const TemporaryCheckpoint&) = delete;
  TemporaryCheckpoint& operator=(const TemporaryCheckpoint&) = delete;

  const std::string& path() const { return path_; }

  /// Makes it durable under its name and returns the path. What is there already is put aside and removed if `replace`;
  /// else the name gets a suffix: ".2", ".3", ...
  /// Throws kIo. Afterwards path() is of no use.
  std::string publish(bool replace);

 private:
  std::string directory_;
  std::string name_;
  std::string path_;  ///< Empty: nothing to remove.
  int lock_ = -1;
};

/// Removes a published checkpoint. It loses its name first, so whoever is killed meanwhile leaves a leftover that
/// sweep_temporaries() removes, and never a named checkpoint with files missing. Does nothing if it is gone already.
/// Throws kIo.
void remove_checkpoint(const std::string& path);

/// Removes what killed processes left in `directory`; returns how many directories there were.
int sweep_temporaries(const std::string& directory);

/// Makes `<directory>/<pointer>` lead to `name`, atomically: a reader sees the old or the new, never nothing.
void set_pointer(const std::string& directory, const std::string& pointer, const std::string& name);

}  // namespace trainyard
