// SPDX-License-Identifier: Apache-2.0
#include "core/state/packed_tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <utility>

#include "messages/limits.h"

namespace trainyard {
namespace {

/// The alignment of Buffer::heap(), which tensors keep when they share a buffer.
constexpr std::size_t kAlignment = 64;

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Puts the tensors into one new buffer of `bytes` bytes, one after another. The padding between them is zeroed, since
/// it is sent to other processes.
void allocate_one_buffer(std::span<Tensor> tensors, std::size_t bytes) {
  const Buffer buffer = Buffer::heap(bytes);
  std::size_t offset = 0;
  for (Tensor& tensor : tensors) {
    const std::size_t size = tensor.bytes();
    if (size == 0) continue;  // A tensor without bytes needs no buffer.
    tensor.buffer = buffer;
    tensor.offset = offset;
    std::memset(buffer.data() + offset + size, 0, padded(size) - size);
    offset += padded(size);
  }
}

bool has_too_many_buffers(const std::vector<SavedState>& states) {
  std::set<std::pair<const std::byte*, std::size_t>> buffers;
  for (const SavedState& state : states) {
    for (const StateTensor& tensor : state.tensors) {
      const Buffer& buffer = tensor.data.buffer;
      if (!buffer.empty()) buffers.emplace(buffer.data(), buffer.size());
    }
  }
  return buffers.size() > kMaxPayloads;
}

}  // namespace

// A new buffer begins when the next tensor would exceed the limit, so any two consecutive buffers together exceed the
// limit. Since the limit is at least a 32nd of the total size, there are fewer than 32 pairs of buffers, and thus at
// most 63 buffers.
void allocate_together(std::span<Tensor> tensors, std::size_t usual_buffer_bytes) {
  std::size_t total = 0;
  for (const Tensor& tensor : tensors) total += padded(checked_bytes(tensor.dtype, tensor.shape));
  const std::size_t limit = std::max(usual_buffer_bytes, total / (kMaxPayloads / 2));
  std::size_t first = 0, bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t size = padded(tensors[i].bytes());
    if (bytes > 0 && bytes + size > limit) {
      allocate_one_buffer(tensors.subspan(first, i - first), bytes);
      first = i;
      bytes = 0;
    }
    bytes += size;
  }
  allocate_one_buffer(tensors.subspan(first), bytes);
}

void fit_into_message(std::vector<SavedState>& states) {
  if (!has_too_many_buffers(states)) return;
  std::vector<Tensor*> scattered;
  std::vector<Tensor> packed;
  for (SavedState& state : states) {
    for (StateTensor& tensor : state.tensors) {
      if (tensor.data.buffer.empty()) continue;
      scattered.push_back(&tensor.data);
      packed.push_back({.dtype = tensor.data.dtype, .shape = tensor.data.shape, .buffer = {}});
    }
  }
  allocate_together(packed);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    if (const std::size_t bytes = packed[i].bytes(); bytes != 0) {
      std::memcpy(packed[i].data(), scattered[i]->data(), bytes);
    }
    // This releases the old buffer, so that the memory for both copies is not needed at the same time.
    *scattered[i] = std::move(packed[i]);
  }
}

}  // namespace trainyard
