// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "messages/error.h"

namespace trainyard::tools {

/// The exit codes of the command. They are the same for every verb and documented in docs/command_line.md. The code 124
/// is the one that timeout(1) uses, and 130 is the one that a shell reports for a program ended by Ctrl-C.
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;         ///< The run, or a request to it, failed.
constexpr int kExitUsage = 2;          ///< The command line or the launch file is not valid.
constexpr int kExitNotFound = 3;       ///< No run is active, or the named object does not exist.
constexpr int kExitTimeout = 124;      ///< Nothing arrived in time.
constexpr int kExitInterrupted = 130;  ///< The user pressed Ctrl-C.

/// Returns the exit code for an error that ends a verb.
int exit_code_of(Code code);

}  // namespace trainyard::tools
