// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// The settings with which a process is started.
struct SpawnOptions {
  std::vector<std::string> command;  ///< The program and its arguments; the program is looked for in PATH.
  std::map<std::string, std::string> environment;  ///< Added to this process's own environment.
  std::string directory;                           ///< The working directory; if empty, that of this process.
  std::string input;                               ///< What it reads from its stdin; at most 4096 bytes.
  std::vector<std::uint32_t> cpus;                 ///< The process is pinned to these CPUs; empty if it is not pinned.
};

/// A process that has been started. Its owner must reap it.
struct Spawned {
  pid_t pid = 0;
  FileDescriptor out;  ///< Its stdout, non-blocking.
  FileDescriptor err;  ///< Its stderr, non-blocking.
};

/// Starts a process. It lives in a process group of its own, so that Ctrl-C on the terminal reaches only the launcher;
/// the kernel kills it when the calling thread dies; it has the default signal handling, but may always write to the
/// terminal; and its stdin has the given input and then ends, and stdout and stderr are pipes. Must be called on the
/// main thread. Throws kNotFound or kIo with the program and the reason.
Spawned spawn(const SpawnOptions& options);

}  // namespace trainyard::launch
