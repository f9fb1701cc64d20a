// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// The content of a lock file: the run that holds an output directory.
struct LockHolder {
  std::string run;  ///< The name of the run, such as "mnist-1xk".
  /// The host of the launcher. `run` and `host` together identify the run, because run names are unique only on one
  /// host.
  std::string host;
  pid_t pid = 0;      ///< The launcher's pid on that host.
  std::string file;   ///< The launch file.
  std::string since;  ///< The time at which the run began, as text for users.
};

/// Returns a LockHolder for the run `run`, whose launcher is the calling process. `file` is the launch file.
LockHolder this_launcher(const std::string& run, const std::string& file);

/// A lock that keeps a second run out of an output directory. Several processes of the same run can use the directory:
/// it is not an error if the run already holds the lock.
///
/// The lock is a flock(2) lock on the file `run.lock` in the directory. The kernel releases it when the process ends,
/// however it ends. Over NFS, the server releases the locks of a host that it has lost. The text in the file only
/// identifies the holder.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  /// Makes the directory and locks it. Does nothing if `directory` is an empty string, if the user may not write to it,
  /// or if the run of `self` already holds the lock. Throws kInvalidArgument if another run holds the lock; the error
  /// names the holder. Throws kIo if the file system does not support locks.
  DirectoryLock(const std::string& directory, const LockHolder& self);
  /// Removes the lock file and releases the lock, if this object holds it.
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /// Returns true if this object holds the lock.
  bool held() const { return static_cast<bool>(file_); }

  /// Returns the path of the lock file in a directory.
  static std::string path_in(const std::string& directory);

 private:
  std::string path_;
  FileDescriptor file_;
};

/// Removes a lock file that a dead run has left behind. Does nothing if a run holds the lock, or if there is no such
/// file.
void remove_stale_lock(const std::string& file);

}  // namespace trainyard::launch
