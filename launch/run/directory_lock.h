// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// Who holds an output directory, as its lock file says.
struct LockHolder {
  std::string run;    ///< The run, such as "mnist-1xk".
  std::string host;   ///< The host of its launcher. Together with `run` it names a run of all hosts.
  pid_t pid = 0;      ///< The launcher's pid on that host.
  std::string file;   ///< The launch file.
  std::string since;  ///< When the run began, for people.
};

/// Returns the holder that stands for the calling process.
LockHolder this_launcher(const std::string& run, const std::string& file);

/// Keeps a second run out of an output directory. All members of one run are admitted.
///
/// The lock is that of flock(2) on the file `run.lock`. The kernel releases it when the process ends, however it ends,
/// and the server does so for a host that is lost, also over NFS. The text in the file only says who holds it.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  /// Makes the directory and locks it, unless its name is empty. A directory that this user may not write to needs no
  /// lock. Throws kInvalidArgument, which names the holder, if another run holds it, and kIo if the file system has no
  /// locks.
  DirectoryLock(const std::string& directory, const LockHolder& self);
  /// Removes the lock file and releases the lock.
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

/// Removes a lock file that a dead run has left behind. Does nothing if a run holds it, or if there is none.
void remove_stale_lock(const std::string& file);

}  // namespace trainyard::launch
