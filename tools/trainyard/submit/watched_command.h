// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::tools::submit {

/// Runs mpirun, or a program that treats signals as mpirun does, until it ends, and returns its exit code.
///
/// On SIGTERM and SIGINT, mpirun kills its processes a second later, which is too short for a checkpoint. But it passes
/// SIGUSR1 on to them. So the first Ctrl-C, SIGTERM or SIGHUP, as well as SIGUSR1 and SIGUSR2, becomes SIGUSR1, and any
/// later Ctrl-C or SIGTERM becomes SIGTERM. The program is in a process group of its own, which Ctrl-C of the terminal
/// does not reach. If this process is killed, the program receives SIGTERM.
///
/// Throws kIo if the program cannot be started. Must be called while the process has only one thread.
int run_watched(const std::vector<std::string>& command);

}  // namespace trainyard::tools::submit
