#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// How to start a process.
struct SpawnOptions {
  std::vector<std::string> command;                ///< Program and arguments; the program is looked for in PATH.
  std::map<std::string, std::string> environment;  ///< On top of this process's own.
  std::string directory;                           ///< Working directory; empty = this one.
  std::vector<std::uint32_t> cpus;                 ///< Pinned to these; empty = not pinned.
};

/// A process that has been started. Whoever has it reaps it.
struct Spawned {
  pid_t pid = 0;
  FileDescriptor out;  ///< Its stdout; not blocking.
  FileDescriptor err;  ///< Its stderr; not blocking.
};

/// Starts a process that lives in a process group of its own (so that Ctrl-C on the terminal reaches the launcher
/// alone), is killed by the kernel when the calling thread dies, has default signal handling (but may always write to
/// the terminal), no stdin, and pipes for stdout and stderr. Must be called on the main thread. Throws kNotFound or kIo
/// with the program and the reason.
Spawned spawn(const SpawnOptions& options);

}  // namespace trainyard::launch
