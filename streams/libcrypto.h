// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "messages/error.h"

namespace trainyard::streams {

/// Throws kInternal if `succeeded` is false. `call` is the name of the libcrypto function that was called. Such a
/// function fails only if memory is exhausted or its arguments are wrong.
inline void require(bool succeeded, const char* call) {
  if (!succeeded) throw Error(Code::kInternal, "libcrypto: {} failed", call);
}

/// Converts a std::byte pointer to the pointer type that libcrypto uses.
inline unsigned char* octets(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
inline const unsigned char* octets(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

/// A deleter for std::unique_ptr that frees an object of libcrypto with the function `kFree`.
template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

}  // namespace trainyard::streams
