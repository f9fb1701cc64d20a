// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "streams/gcm.h"

namespace trainyard::streams {

/// AES-128-GCM as implemented by Intel's IPSec Multi-Buffer library, which not every build has.
struct IpsecMbGcm {
  /// Returns true if the build has the library and the processor has the instructions that make it faster than OpenSSL.
  static bool suits();
  /// Must be called only if suits() returns true.
  static std::unique_ptr<Gcm> make();
};

}  // namespace trainyard::streams
