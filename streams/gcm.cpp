// SPDX-License-Identifier: Apache-2.0
#include "streams/gcm.h"

#include "streams/ipsec_mb_gcm.h"
#include "streams/libcrypto_gcm.h"

namespace trainyard::streams {

const std::vector<GcmLibrary>& gcm_libraries() {
  static const std::vector<GcmLibrary> libraries = IpsecMbGcm::suits()
                                                       ? std::vector{GcmLibrary::kIpsecMb, GcmLibrary::kLibcrypto}
                                                       : std::vector{GcmLibrary::kLibcrypto};
  return libraries;
}

std::unique_ptr<Gcm> Gcm::make(GcmLibrary library, Direction direction) {
  if (library == GcmLibrary::kIpsecMb) return IpsecMbGcm::make();
  return std::make_unique<LibcryptoGcm>(direction);
}

}  // namespace trainyard::streams
