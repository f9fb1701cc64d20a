// SPDX-License-Identifier: Apache-2.0
#include "messages/buffer.h"

#include <new>
#include <utility>

namespace trainyard {
namespace {

/// The size of a cache line and of the widest vector registers. A kernel may therefore use aligned loads at the first
/// byte of every buffer.
constexpr std::align_val_t kAlignment{64};

}  // namespace

Buffer::Buffer(std::shared_ptr<void> owner, std::byte* data, std::size_t size, std::optional<SharedHandle> shared)
    : owner_(std::move(owner)), data_(data), size_(size), shared_(shared) {}

Buffer Buffer::heap(std::size_t size) {
  auto* data = static_cast<std::byte*>(::operator new(size, kAlignment));
  std::shared_ptr<void> owner(data, [](void* bytes) { ::operator delete(bytes, kAlignment); });
  return {std::move(owner), data, size};
}

}  // namespace trainyard
