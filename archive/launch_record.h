// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/launcher_identity.h"
#include "messages/words.h"

namespace trainyard::archive {

/// Whether a launch is still running, and if not, how it ended.
enum class LaunchState : std::uint8_t {
  kRunning,
  kEnded,        ///< The run was completed, or all its processes ended without an error.
  kFailed,       ///< The run ended with an error, which the launcher recorded.
  kInterrupted,  ///< The user or the engine (such as Slurm) stopped the run.
  kKilled,       ///< No end was recorded, and the launcher no longer exists.
  kUnknown,      ///< No end was recorded, and the launcher was started on another host.
};
constexpr auto words_of(LaunchState) {
  return words("launch state", "running", "ended", "failed", "interrupted", "killed", "unknown");
}

/// The versions of the software that executed a run.
struct Versions {
  std::string trainyard;
  std::string libtorch;
  std::string compiler;
  std::string system;  ///< The operating system, such as "Debian GNU/Linux 12 (bookworm)".
};

/// The state of the git repository that contains the launch file.
struct GitState {
  std::string commit;  ///< The full hash of the commit that was checked out; empty before the first commit.
  std::string branch;  ///< Empty if no branch was checked out.
  bool dirty = false;  ///< True if tracked files differed from the commit. Untracked files do not count.
};

/// A launch file, or a file that it includes, and the copy that the launcher made of it.
struct KeptFile {
  std::string path;  ///< The path of the original file.
  std::string copy;  ///< The path of the copy, relative to the launch's folder, such as "files/mnist.toml".
};

/// The record that the launcher keeps of one launch, in `launches/<number>/launch.json` in the output directory of the
/// run. The same folder contains copies of the launch file and its includes, and `plan.json`, the plan as `trainyard
/// plan --json` shows it, but without the values of environment variables. docs/launch_files.md describes these files
/// for users.
struct LaunchRecord {
  std::uint32_t number = 0;            ///< 1 for the first launch in the output directory.
  std::string run;                     ///< The full name of the run, such as "mnist-9ix".
  std::string name;                    ///< The name without the suffix, such as "mnist".
  std::string file;                    ///< The path of the launch file.
  std::vector<std::string> arguments;  ///< The arguments after the launch file, such as "devices=2".
  std::string working_directory;       ///< The directory in which the launcher was started.
  std::vector<KeptFile> files;         ///< The launch file, followed by the files that it includes.
  std::uint64_t seed = 0;
  std::uint32_t ranks = 1;
  Versions versions;
  std::optional<GitState> git;  ///< Empty if the launch file is not in a repository, or git did not answer in time.
  LauncherIdentity launcher;    ///< The process that launched the run and supervises it.
  std::int64_t started_ns = 0;  ///< When the run began, in nanoseconds since 1970.
  std::int64_t ended_ns = 0;    ///< When the run ended; 0 if no end was recorded.
  LaunchState state = LaunchState::kRunning;  ///< The recorded state: never kKilled or kUnknown.
  std::string reason;  ///< Why the run ended, such as "max_steps = 1000 reached"; empty while it runs.
};

/// Returns the state at this moment. This is the recorded state, with one exception: if no end was recorded and the
/// launcher is not among the processes of this host, the state is kKilled, or kUnknown if the launcher was started on
/// another host.
LaunchState state_now(const LaunchRecord& launch);

/// Returns the text of launch.json.
std::string format_launch_record(const LaunchRecord& launch);

/// Parses the text of launch.json. Throws kCorrupt if the text is malformed or a field is missing, and kUnsupported if
/// it has another version of the format. The errors begin with `where`. Unknown fields are ignored.
LaunchRecord parse_launch_record(const std::string& text, const std::string& where);

/// Returns the folder of a launch: "<output directory>/launches/<number>".
std::string launch_folder(const std::string& output_directory, std::uint32_t number);

}  // namespace trainyard::archive
