#pragma once

#include "messages/error.h"

namespace trainyard::tools {

/// What the command's exit codes mean; the same for every verb, and documented in docs/command_line.md. 124 is that of
/// timeout(1), 130 that of a shell whose program Ctrl-C has ended.
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;         ///< The run, or what was asked of it, failed.
constexpr int kExitUsage = 2;          ///< Bad input: a command line or a launch file that cannot be.
constexpr int kExitNotFound = 3;       ///< Nothing is running, or there is no such thing.
constexpr int kExitTimeout = 124;      ///< Nothing came in time.
constexpr int kExitInterrupted = 130;  ///< Ctrl-C.

/// The exit code for an error that ends a verb.
int exit_code_of(Code code);

}  // namespace trainyard::tools
