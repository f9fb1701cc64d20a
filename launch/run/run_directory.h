// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::launch {

/// The content of `run.json` in a run's directory, by which another program of the same user can find the run.
struct RunInfo {
  std::string run;                ///< Unique on this host, such as "mnist-1xk".
  std::string name;               ///< The name that the launch file or the user gave, such as "mnist".
  std::string file;               ///< The launch file.
  pid_t pid = 0;                  ///< The pid of the launcher.
  std::uint64_t start_ticks = 0;  ///< When that process was started, which guards against a reused pid.
  std::string registry;           ///< The ZeroMQ endpoint that answers questions (docs/wire_format.md).
  std::string directory;          ///< Where the file was found; this is not part of it.
};

/// Returns `${XDG_RUNTIME_DIR:-/tmp}/trainyard-<uid>`, or the same folder in /tmp if XDG_RUNTIME_DIR does not name a
/// folder.
std::string runs_directory();

/// Returns the runs that are alive, newest first. Nothing is removed. Throws kIo if `base` belongs to another user or
/// others may write to it, because its content could then not be trusted.
std::vector<RunInfo> list_runs(const std::string& base = runs_directory());

/// Returns true if the launcher of the run is still running.
bool is_alive(const RunInfo& run);

/// Removes what dead launchers left behind. Returns how many directories were removed.
std::size_t sweep_stale_runs(const std::string& base = runs_directory());

/// Makes the name of a run, for example "mnist-9ix" from "mnist" and 12345. It has at most 24 characters and is safe in
/// a path. It is unique on this host as long as the process lives.
std::string run_name(std::string_view name, pid_t pid);

/// The directory of one run, private to the user, which holds its sockets and `run.json`. The destructor removes it
/// with everything in it.
class RunDirectory {
 public:
  /// Sweeps stale runs, then makes the directory. Throws kIo if `base` belongs to another user or is writable by
  /// others, and kInvalidArgument if its sockets would have names longer than the 107 bytes that the kernel allows.
  RunDirectory(const std::string& base, std::string run);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }
  const std::string& run() const { return run_; }

  /// Returns the address of a socket, such as "ipc:///run/user/1000/trainyard-1000/mnist-9ix/control".
  std::string endpoint(std::string_view socket) const;

  /// Makes the run visible to others, by writing a complete `run.json` at once.
  void announce(const std::string& name, const std::string& file, const std::string& registry) const;

 private:
  std::string run_;
  std::string path_;
};

}  // namespace trainyard::launch
