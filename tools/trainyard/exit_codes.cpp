// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/exit_codes.h"

namespace trainyard::tools {

// The codes are grouped by what a script can do about them: correct the input, wait, try another machine, or report a
// bug. There is no default label, so that the compiler warns about a code that is missing here.
int exit_code_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kTypeMismatch:
    case Code::kShapeMismatch:
    case Code::kUnsupported:
      return kExitUsage;
    case Code::kNotFound:
      return kExitNotFound;
    case Code::kTimeout:
      return kExitTimeout;
    case Code::kCancelled:
      return kExitInterrupted;
    case Code::kPluginLoad:
    case Code::kAbiMismatch:
    case Code::kCorrupt:
    case Code::kIo:
    case Code::kPeerLost:
    case Code::kInternal:
      return kExitFailed;
  }
  return kExitFailed;
}

}  // namespace trainyard::tools
