// SPDX-License-Identifier: Apache-2.0
#include "core/memory/segment.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "messages/error.h"

namespace trainyard::core {

Mapping::Mapping(int fd, std::size_t bytes, bool writable) : bytes_(bytes) {
  void* address = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED)
    throw Error(Code::kIo, "cannot map {} bytes of shared memory: {}", bytes, std::strerror(errno));
  data_ = static_cast<std::byte*>(address);
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

// The two are swapped, so the old mapping is removed when `other` is destroyed.
Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace trainyard::core
