#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::launch {

/// What `run.json` in a run's directory says: enough for another program of the same user to find the run.
struct RunInfo {
  std::string run;                ///< Unique on this host: "mnist-1xk".
  std::string name;               ///< As the launch file or the user calls it: "mnist".
  std::string file;               ///< The launch file.
  pid_t pid = 0;                  ///< The launcher.
  std::uint64_t start_ticks = 0;  ///< Of that pid; guards against its reuse.
  std::string registry;           ///< ZeroMQ endpoint that answers questions (docs/wire_format.md).
  std::string directory;          ///< Where the file was found; not part of it.
};

/// `${XDG_RUNTIME_DIR:-/tmp}/trainyard-<uid>`; /tmp too if XDG_RUNTIME_DIR names no folder.
std::string runs_directory();

/// The runs that are alive, newest first. Reads only. Throws kIo if `base` belongs to somebody else or others may write
/// to it: what is in it could not be believed.
std::vector<RunInfo> list_runs(const std::string& base = runs_directory());

/// True if the run's launcher still lives.
bool is_alive(const RunInfo& run);

/// Removes what dead launchers left behind. Returns how many directories went.
std::size_t sweep_stale_runs(const std::string& base = runs_directory());

/// "mnist" and 12345 to "mnist-9ix": at most 24 characters, safe in a path. Unique on this host as long as the process
/// lives.
std::string run_name(std::string_view name, pid_t pid);

/// The directory of one run, private to the user: its sockets and `run.json`. Removed, with all it holds, by the
/// destructor.
class RunDirectory {
 public:
  /// Sweeps what is stale, then makes the directory. Throws kIo if `base` belongs to somebody else or is writable by
  /// others, and kInvalidArgument if sockets in it would have names longer than the 107 bytes that the kernel allows.
  RunDirectory(const std::string& base, std::string run);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }
  const std::string& run() const { return run_; }

  /// "ipc:///run/user/1000/trainyard-1000/mnist-9ix/control"
  std::string endpoint(std::string_view socket) const;

  /// Makes the run visible to others: writes `run.json`, at once and whole.
  void announce(const std::string& name, const std::string& file, const std::string& registry) const;

 private:
  std::string run_;
  std::string path_;
};

}  // namespace trainyard::launch
