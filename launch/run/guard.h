// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// The launcher's side of the connection to its guard, the process that cleans up if the launcher is killed; see
/// run_guarded().
class GuardLink {
 public:
  GuardLink() = default;
  GuardLink(FileDescriptor alive, FileDescriptor notes) : alive_(std::move(alive)), notes_(std::move(notes)) {}

  /// Returns a file descriptor that becomes readable (at end of file) when the guard dies; -1 if there is no guard.
  int alive() const { return alive_.get(); }

  /// Tells the guard which directory to remove if the launcher is killed. Must be called before the directory is made.
  void will_make(const std::string& directory) const;

  /// Tells the guard which lock file to remove if the launcher is killed. The guard does not remove the file if another
  /// run holds the lock, so this function can be called before the file is locked.
  void will_lock(const std::string& file) const;

  /// Tells the guard how long the launcher may be stopped by a signal before the guard ends the run; 0 means no limit.
  void set_patience(std::chrono::milliseconds patience) const;

  /// Tells the guard that the run has ended. The command then returns `code`, even if the launcher is killed before it
  /// exits.
  void will_exit(int code) const;

  /// Returns the guard's pid; 0 if there is no guard.
  pid_t pid() const;

 private:
  void note(const std::string& word, const std::string& text) const;

  FileDescriptor alive_;
  FileDescriptor notes_;
};

/// Runs `launcher` in a child process, while the calling process becomes its guard. Even if one of the two is killed
/// with SIGKILL, no process and no run directory is left behind:
///
/// - The guard is the process that the user sees. It passes SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 on to the
/// launcher. The launcher receives each signal only once, because it has its own process group, which signals from the
/// terminal do not reach. When the launcher has ended, the guard returns its exit code.
///
/// - On SIGTSTP, which Ctrl-Z sends, the guard stops the launcher and all its descendants, and then itself. When the
/// guard is continued, for instance by `fg`, it continues all of these processes.
///
/// - If only the launcher is stopped by a signal, the guard prints a message. If the launcher stays stopped for longer
/// than set_patience() allows, the guard ends the run.
///
/// - If the launcher is killed, its children become children of the guard, because the guard is a sub-reaper. The guard
/// kills them all, removes the run directory and the lock file, prints a message, and returns 1. After will_exit(), it
/// prints nothing and returns that code. If the launcher was ended by a signal that the guard passes on, the guard
/// prints nothing and returns 130.
///
/// - If the guard is killed, the launcher detects this by the end of a pipe. It kills its own children and removes the
/// run directory.
///
/// Must be called before the process starts any thread. The function returns in both processes: in the guard as
/// described above, and in the launcher with the result of `launcher`. Throws kIo if the system cannot make a pipe or a
/// process. docs/decisions/0005 gives the reasons for this design.
int run_guarded(const std::function<int(const GuardLink&)>& launcher);

}  // namespace trainyard::launch
