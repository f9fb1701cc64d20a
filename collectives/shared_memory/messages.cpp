#include <algorithm>
#include <cstring>

#include "collectives/shared_memory/ways.h"
#include "messages/error.h"

// Messages from one rank to another go through a ring in the sender's memory, a head and then the elements, piece by
// piece, so they may be larger than the ring. Of elements in registered memory only the head goes: the receiver copies
// them itself. Everything in the ring starts at a multiple of a cache line.

namespace trainyard::shared_memory {
namespace {

/// Published at a time: the receiver copies one while the sender writes the next.
constexpr std::uint64_t kRingPiece = 64 << 10;

struct alignas(kLine) Head {
  Request request;
  Place source;
};

std::uint64_t padded(std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// Calls `copy(in the ring, bytes done before, bytes)` for the next `bytes` of the ring, which may be in two pieces.
template <class Copy>
void around(const Group& group, std::byte* ring, std::uint64_t position, std::uint64_t bytes, const Copy& copy) {
  const std::uint64_t capacity = group.layout().ring_bytes;
  const std::uint64_t at = position & (capacity - 1);
  const std::uint64_t first = std::min(bytes, capacity - at);
  copy(ring + at, 0, first);
  if (first < bytes) copy(ring, first, bytes - first);
}

bool put_head(Group& group, Channel& channel, Operation& operation) {
  const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
  if (written + sizeof(Head) - channel.read.load(std::memory_order_acquire) > group.layout().ring_bytes) return false;
  const Head head{operation.request, operation.direct ? operation.source : Place{}};
  around(group, group.ring(group.rank(), operation.peer), written, sizeof head,
         [&](std::byte* to, std::uint64_t done, std::uint64_t bytes) {
           std::memcpy(to, reinterpret_cast<const std::byte*>(&head) + done, bytes);
         });
  channel.written.store(written + sizeof head, std::memory_order_release);
  return true;
}

bool put_piece(Group& group, Channel& channel, Operation& operation) {
  const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
  const std::uint64_t room = group.layout().ring_bytes - (written - channel.read.load(std::memory_order_acquire));
  const std::uint64_t piece = std::min({room, kRingPiece, padded(operation.bytes() - operation.moved)});
  if (piece == 0) return false;
  const std::uint64_t bytes = std::min(piece, operation.bytes() - operation.moved);
  around(group, group.ring(group.rank(), operation.peer), written, bytes,
         [&](std::byte* to, std::uint64_t done, std::uint64_t n) {
           std::memcpy(to, operation.data + operation.moved + done, n);
         });
  operation.moved += bytes;
  channel.written.store(written + piece, std::memory_order_release);
  return true;
}

bool get_head(Group& group, Channel& channel, Operation& operation) {
  const std::uint64_t read = channel.read.load(std::memory_order_relaxed);
  if (channel.written.load(std::memory_order_acquire) == read) return false;
  Head head;
  around(group, group.ring(operation.peer, group.rank()), read, sizeof head,
         [&](const std::byte* from, std::uint64_t done, std::uint64_t bytes) {
           std::memcpy(reinterpret_cast<std::byte*>(&head) + done, from, bytes);
         });
  if (head.request.count != operation.request.count || head.request.dtype != operation.request.dtype) {
    throw MessageMismatch{head.request};
  }
  operation.source = head.source;
  operation.direct = head.source.registered();
  channel.read.store(read + sizeof head, std::memory_order_release);
  return true;
}

bool get_piece(Group& group, Channel& channel, Operation& operation) {
  const std::uint64_t read = channel.read.load(std::memory_order_relaxed);
  const std::uint64_t there = channel.written.load(std::memory_order_acquire) - read;
  const std::uint64_t piece = std::min({there, kRingPiece, padded(operation.bytes() - operation.moved)});
  if (piece == 0) return false;
  const std::uint64_t bytes = std::min(piece, operation.bytes() - operation.moved);
  around(group, group.ring(operation.peer, group.rank()), read, bytes,
         [&](const std::byte* from, std::uint64_t done, std::uint64_t n) {
           std::memcpy(operation.data + operation.moved + done, from, n);
         });
  operation.moved += bytes;
  channel.read.store(read + piece, std::memory_order_release);
  return true;
}

void copy_directly(const Blocks& blocks, Operation& operation) {
  const std::byte* from = blocks.address(operation.peer, operation.source, operation.bytes());
  if (from == nullptr)
    throw Error(Code::kCorrupt, "a message lies outside of its sender's memory, {}", operation.bytes());
  std::memcpy(operation.data, from, operation.bytes());
  operation.moved = operation.bytes();
}

}  // namespace

bool advance_send(Group& group, Operation& operation) {
  Channel& channel = group.channel(group.rank(), operation.peer);
  bool moved = false;
  if (!operation.begun) operation.begun = moved = put_head(group, channel, operation);
  if (!operation.begun) return false;
  while (!operation.direct && operation.moved < operation.bytes() && put_piece(group, channel, operation)) {
    moved = true;
    group.wake(operation.peer);
  }
  operation.finished = operation.direct ? channel.taken.load(std::memory_order_acquire) >= operation.sequence
                                        : operation.moved == operation.bytes();
  if (moved) group.wake(operation.peer);
  return moved || operation.finished;
}

bool advance_recv(Group& group, const Blocks& blocks, Operation& operation) {
  Channel& channel = group.channel(operation.peer, group.rank());
  bool moved = false;
  if (!operation.begun) operation.begun = moved = get_head(group, channel, operation);
  if (!operation.begun) return false;
  if (operation.direct) copy_directly(blocks, operation);
  while (operation.moved < operation.bytes() && get_piece(group, channel, operation)) {
    moved = true;
    group.wake(operation.peer);
  }
  operation.finished = operation.moved == operation.bytes();
  if (operation.finished) channel.taken.store(operation.sequence, std::memory_order_release);
  if (moved || operation.finished) group.wake(operation.peer);
  return moved || operation.finished;
}

}  // namespace trainyard::shared_memory
