// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// The settings for starting a process.
struct SpawnOptions {
  std::vector<std::string> command;                ///< The program, which is looked up in PATH, and its arguments.
  std::map<std::string, std::string> environment;  ///< Variables that are added to the calling process's environment.
  std::string directory;                           ///< The working directory; if empty, that of the calling process.
  std::string input;                               ///< The content of its stdin, at most 4096 bytes.
  std::vector<std::uint32_t> cpus;                 ///< The process is pinned to these CPUs; empty if it is not pinned.
  /// Signals that the process ignores, unless it installs its own handler.
  std::vector<int> ignored_signals;
};

/// A process started by spawn(). The caller must reap it.
struct Spawned {
  pid_t pid = 0;
  FileDescriptor out;  ///< The read end of the pipe to which its stdout leads; non-blocking.
  FileDescriptor err;  ///< The read end of the pipe to which its stderr leads; non-blocking.
};

/// Starts a process. The process has its own process group, so that Ctrl-C on the terminal does not reach it. The
/// kernel kills it when the calling thread ends, so spawn() must be called on the main thread. All signals have their
/// default actions, except that `ignored_signals` and SIGTTOU are ignored. Because SIGTTOU is ignored, the process can
/// always write to the terminal. Its stdin contains `input`; its stdout and stderr are pipes. Throws kNotFound or kIo,
/// with the program and the reason.
Spawned spawn(const SpawnOptions& options);

}  // namespace trainyard::launch
