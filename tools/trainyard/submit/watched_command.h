// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::tools::submit {

/// Runs mpirun, or another program that handles signals in the same way, waits until the program ends, and returns its
/// exit code. Converts the signals that this process receives, so that the run has time to save a checkpoint.
///
/// When mpirun receives SIGTERM or SIGINT, it kills its processes a second later, which is not enough time to save a
/// checkpoint. SIGUSR1, however, is passed on to its processes. So the first signal that arrives (Ctrl-C, SIGTERM,
/// SIGHUP, SIGUSR1 or SIGUSR2) is converted to SIGUSR1. After that, Ctrl-C and SIGTERM are converted to SIGTERM, and
/// the other signals are ignored. The program has its own process group, so Ctrl-C in the terminal does not reach it
/// directly. If this process is killed, the program receives SIGTERM.
///
/// If a signal ends the program, returns 128 plus the number of the signal. Returns 127 if the program cannot be
/// executed. Throws kIo if no process can be created for it. Must be called while the process has only one thread.
int run_watched(const std::vector<std::string>& command);

}  // namespace trainyard::tools::submit
