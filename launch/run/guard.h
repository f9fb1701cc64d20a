#pragma once

#include <functional>
#include <string>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// The launcher's side of the connection to its guard.
class GuardLink {
 public:
  GuardLink() = default;
  GuardLink(FileDescriptor alive, FileDescriptor notes) : alive_(std::move(alive)), notes_(std::move(notes)) {}

  /// Readable (end of file) once the guard is dead; -1 if there is none.
  int alive() const { return alive_.get(); }

  /// Tells the guard what to remove should the launcher be killed; to be called before the directory is made.
  void will_make(const std::string& directory) const;

 private:
  FileDescriptor alive_;
  FileDescriptor notes_;
};

/// Runs `launcher` in a child of this process, while this process guards it. Neither leaves anything behind when the
/// other, or itself, is killed with SIGKILL:
///
/// - The guard is the process that the user sees. It passes SIGINT, SIGTERM and SIGHUP on (once each: the launcher has
///   a process group of its own, so a terminal reaches the guard alone) and returns the launcher's exit code.
/// - If the launcher is killed, its children become the guard's (both are sub-reapers of their descendants); the guard
///   kills them all, removes the run directory, says so, and returns 1 (130, in silence, if it died of a signal that
///   the guard had passed on).
/// - If the guard is killed, the launcher sees the end of a pipe and does the same for itself.
///
/// Must be called before any thread exists. Returns in both processes: in the guard with the launcher's exit code, in
/// the launcher with what `launcher` returned. Throws kIo if there is no pipe or no process to be had. The reasons are
/// in docs/decisions/0005.
int run_guarded(const std::function<int(const GuardLink&)>& launcher);

}  // namespace trainyard::launch
