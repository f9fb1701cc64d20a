// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_relay/copies.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/compiler/ordered_elsewhere.h"

namespace trainyard::checkpoint_relay {

Tensor piece_of(const Buffer& buffer, std::size_t begin, std::size_t end) {
  Tensor piece{.dtype = DType::kUInt8, .shape = {static_cast<std::int64_t>(end - begin)}};
  piece.buffer = Buffer(buffer.owner(), buffer.data() + begin, end - begin);
  return piece;
}

Buffer Copies::copy(const Tensor& block) {
  const std::size_t bytes = block.bytes();
  // A buffer to which only this list refers has been sent, and can be reused.
  auto free = std::ranges::find_if(
      buffers_, [bytes](const Buffer& b) { return b.size() == bytes && b.owner().use_count() == 1; });
  if (free == buffers_.end()) free = buffers_.insert(buffers_.end(), Buffer::heap(bytes));
  // Pairs with the release of the last reference by ZeroMQ's thread.
  std::atomic_thread_fence(std::memory_order_acquire);
  // The checkpoint writer asks for the copy when the rank has announced a snapshot, and the rank changes nothing until
  // it has been told that the copy exists.
  const core::OrderedElsewhere ordered;
  std::memcpy(free->data(), block.data(), bytes);
  return *free;
}

}  // namespace trainyard::checkpoint_relay
