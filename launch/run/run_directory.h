// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "visitors/run_info.h"

namespace trainyard::launch {

/// Removes the run directories of launchers that have died. Returns the number of directories removed.
std::size_t sweep_stale_runs(const std::string& base = visitors::runs_directory());

/// Returns the name of a run, for example "mnist-9ix" for the name "mnist" and the pid 12345. It is at most 24
/// characters long and can be used in a path. As long as the process `pid` exists, no other run on this host has the
/// same name.
std::string run_name(std::string_view name, pid_t pid);

/// The directory of one run. It contains the run's sockets and `run.json`, and only the user who launched the run can
/// access it. The destructor removes the directory and its contents.
class RunDirectory {
 public:
  /// Calls sweep_stale_runs(), then makes the directory `run` in `base`. Throws kIo if `base` belongs to another user
  /// or is writable by others. Throws kInvalidArgument if the paths of the sockets would be longer than the 107 bytes
  /// that the kernel allows.
  RunDirectory(const std::string& base, std::string run);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }
  const std::string& run() const { return run_; }

  /// Returns the address of the socket with this name in the directory, such as
  /// "ipc:///run/user/1000/trainyard-1000/mnist-9ix/control".
  std::string endpoint(std::string_view socket) const;

  /// Makes the run visible to other programs by writing `run.json`. `name` is the name from the launch file `file`, and
  /// `registry` is the address at which the launcher answers questions. A program that looks for the file finds
  /// either no file or the complete file.
  void announce(const std::string& name, const std::string& file, const std::string& registry) const;

 private:
  std::string run_;
  std::string path_;
};

}  // namespace trainyard::launch
