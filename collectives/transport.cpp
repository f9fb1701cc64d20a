// SPDX-License-Identifier: Apache-2.0
#include "collectives/transport.h"

#include <cstring>

namespace trainyard::collectives {

Buffer zeroed(std::size_t bytes) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), 0, bytes);
  return buffer;
}

Buffer Transport::allocate(std::size_t bytes) { return zeroed(bytes); }

}  // namespace trainyard::collectives
