// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// The launcher's side of the connection to its guard.
class GuardLink {
 public:
  GuardLink() = default;
  GuardLink(FileDescriptor alive, FileDescriptor notes) : alive_(std::move(alive)), notes_(std::move(notes)) {}

  /// Returns a descriptor that becomes readable (end of file) once the guard is dead; -1 if there is no guard.
  int alive() const { return alive_.get(); }

  /// Tells the guard which directory to remove if the launcher is killed. Must be called before the directory is made.
  void will_make(const std::string& directory) const;

  /// Tells the guard which lock file to remove if the launcher is killed, unless another run holds it by then.
  void will_lock(const std::string& file) const;

  /// Tells the guard how long the launcher may be stopped by a signal before the guard ends the run; 0 is for ever.
  void set_patience(std::chrono::milliseconds patience) const;

  /// Tells the guard that the run has ended and what the command returns, whatever may still happen to the launcher.
  void will_exit(int code) const;

  /// Returns the guard's pid; 0 if there is no guard.
  pid_t pid() const;

 private:
  void note(const std::string& word, const std::string& text) const;

  FileDescriptor alive_;
  FileDescriptor notes_;
};

/// Runs `launcher` in a child of this process, while this process guards it. Nothing is left behind even if one of the
/// two is killed with SIGKILL:
///
/// - The guard is the process that the user sees. It passes on SIGINT, SIGTERM and SIGHUP, each once, because the
/// launcher has a process group of its own and a terminal reaches only the guard. It returns the launcher's exit code.
///
/// - On SIGTSTP, which Ctrl-Z sends, the guard stops the launcher and everything below it, then itself. When it is
/// continued, by `fg` for instance, it continues them all.
///
/// - If the launcher alone is stopped by a signal, the guard says so, and ends the run when its patience is over.
///
/// - If the launcher is killed, its children become the guard's, because both are sub-reapers of their descendants. The
/// guard kills them all, removes the run directory, reports this, and returns 1. If the launcher died of a signal that
/// the guard had passed on, the guard is silent and returns 130.
///
/// - If the guard is killed, the launcher notices the end of a pipe, kills its own children and removes the run
/// directory.
///
/// Must be called before any thread exists. It returns in both processes: in the guard with the launcher's exit code,
/// in the launcher with what `launcher` returned. Throws kIo if the system provides no pipe or no process.
/// docs/decisions/0005 gives the reasons.
int run_guarded(const std::function<int(const GuardLink&)>& launcher);

}  // namespace trainyard::launch
