// SPDX-License-Identifier: Apache-2.0
#include "messages/error.h"

namespace trainyard {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kNotFound:
      return "not found";
    case Code::kTypeMismatch:
      return "type mismatch";
    case Code::kShapeMismatch:
      return "shape mismatch";
    case Code::kTimeout:
      return "timeout";
    case Code::kPluginLoad:
      return "plugin load";
    case Code::kAbiMismatch:
      return "ABI mismatch";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kIo:
      return "input/output";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kPeerLost:
      return "peer lost";
    case Code::kCancelled:
      return "cancelled";
    case Code::kInternal:
      return "internal";
  }
  // Only a number that was cast to Code gets here. There is no default label above, so that the compiler warns if a
  // case is missing.
  return "unknown";
}

}  // namespace trainyard
