// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "messages/error.h"

namespace trainyard::tools {

/// The exit codes of `trainyard`. They are the same for every subcommand, and docs/command_line.md documents them.
/// timeout(1) also uses the code 124, and a shell reports 130 for a program that was ended by Ctrl-C.
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;         ///< The run, or the requested action, failed.
constexpr int kExitUsage = 2;          ///< The command line or the launch file is not valid.
constexpr int kExitNotFound = 3;       ///< No run is active, or the named object does not exist.
constexpr int kExitTimeout = 124;      ///< No message, answer or subscriber arrived in time.
constexpr int kExitInterrupted = 130;  ///< The user pressed Ctrl-C.

/// Returns the exit code of a command that ends with an error whose code is `code`.
int exit_code_of(Code code);

}  // namespace trainyard::tools
