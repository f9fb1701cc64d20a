// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "collectives/shared_memory/transfers.h"
#include "messages/error.h"

// A message from one rank to another goes through a ring buffer in the sender's memory: first a head, then the
// elements, piece by piece, so a message may be larger than the ring. If many elements are in memory that the receiver
// has mapped, only the head is sent, and the receiver copies the elements itself. Heads and messages start at multiples
// of a cache line.

namespace trainyard::shared_memory {
namespace {

/// The smallest message in bytes that the receiver copies directly from the sender's memory, if it has mapped that
/// memory.
constexpr std::uint64_t kDirectMessage = 32 << 10;

/// The size of a piece in bytes. The receiver copies one piece while the sender writes the next.
constexpr std::uint64_t kRingPiece = 64 << 10;

struct alignas(kLine) Head {
  Request request;
  Place source;
};

std::uint64_t padded(std::uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// Calls `copy(address in the ring, number of bytes before it, number of bytes)` for `bytes` bytes of the ring from
/// `position` on. Calls it twice if they continue at the beginning of the ring.
template <class Copy>
void around(const Group& group, std::byte* ring, std::uint64_t position, std::uint64_t bytes, const Copy& copy) {
  const std::uint64_t capacity = group.layout().ring_bytes;
  const std::uint64_t at = position & (capacity - 1);
  const std::uint64_t first = std::min(bytes, capacity - at);
  copy(ring + at, 0, first);
  if (first < bytes) copy(ring, first, bytes - first);
}

/// The common part of the transfers of send and recv.
class RingTransfer : public Transfer {
 public:
  RingTransfer(Group& group, const Blocks& blocks, const Operation& operation, Channel& channel)
      : group_(group), blocks_(blocks), operation_(operation), channel_(channel) {}

  std::optional<std::vector<std::uint32_t>> missing() const override { return {{peer()}}; }

 protected:
  std::uint32_t peer() const { return operation_.request.member; }
  bool has_moved_all() const { return moved_ == operation_.bytes(); }
  std::uint64_t left() const { return operation_.bytes() - moved_; }

  Group& group_;
  const Blocks& blocks_;
  const Operation& operation_;
  Channel& channel_;
  bool begun_ = false;       ///< True if the head has been written to the ring or read from it.
  bool direct_ = false;      ///< True if the receiver copies the elements directly from the sender's memory.
  std::uint64_t moved_ = 0;  ///< The number of bytes of the elements that have been transferred.
};

class SendTransfer final : public RingTransfer {
 public:
  SendTransfer(Group& group, const Blocks& blocks, const Operation& operation)
      : RingTransfer(group, blocks, operation, group.channel(group.rank(), operation.request.member)),
        source_(blocks.find(operation.data.data, operation.bytes())) {
    direct_ = source_.registered() && operation.bytes() >= kDirectMessage;
  }

  Progress advance(Effort) override {
    bool moved = false;
    if (!begun_) begun_ = moved = put_head();
    if (!begun_) return Progress::kNothing;
    while (!direct_ && !has_moved_all() && put_piece()) {
      moved = true;
      group_.wake(peer());
    }
    if (moved) group_.wake(peer());
    const bool is_over = direct_ ? channel_.taken.load(std::memory_order_acquire) >= operation_.order : has_moved_all();
    if (is_over) return Progress::kFinished;
    return moved ? Progress::kSome : Progress::kNothing;
  }

 private:
  bool put_head() {
    const std::uint64_t written = channel_.written.load(std::memory_order_relaxed);
    const std::uint64_t room = group_.layout().ring_bytes - (written - channel_.read.load(std::memory_order_acquire));
    if (room < sizeof(Head)) return false;
    const Head head{operation_.request, direct_ ? source_ : Place{}};
    around(group_, group_.ring(group_.rank(), peer()), written, sizeof head,
           [&](std::byte* to, std::uint64_t done, std::uint64_t bytes) {
             std::memcpy(to, reinterpret_cast<const std::byte*>(&head) + done, bytes);
           });
    channel_.written.store(written + sizeof head, std::memory_order_release);
    return true;
  }

  bool put_piece() {
    const std::uint64_t written = channel_.written.load(std::memory_order_relaxed);
    const std::uint64_t room = group_.layout().ring_bytes - (written - channel_.read.load(std::memory_order_acquire));
    const std::uint64_t piece = std::min({room, kRingPiece, padded(left())});
    if (piece == 0) return false;
    const std::uint64_t bytes = std::min(piece, left());
    around(group_, group_.ring(group_.rank(), peer()), written, bytes,
           [&](std::byte* to, std::uint64_t done, std::uint64_t n) {
             std::memcpy(to, operation_.whole().data() + moved_ + done, n);
           });
    moved_ += bytes;
    channel_.written.store(written + piece, std::memory_order_release);
    return true;
  }

  const Place source_;
};

class ReceiveTransfer final : public RingTransfer {
 public:
  ReceiveTransfer(Group& group, const Blocks& blocks, const Operation& operation,
                  const std::vector<std::uint32_t>& ranks)
      : RingTransfer(group, blocks, operation, group.channel(operation.request.member, group.rank())), ranks_(ranks) {}

  Progress advance(Effort) override {
    bool moved = false;
    if (!begun_) begun_ = moved = get_head();
    if (!begun_) return Progress::kNothing;
    if (direct_) copy_directly();
    while (!has_moved_all() && get_piece()) {
      moved = true;
      group_.wake(peer());
    }
    if (has_moved_all()) channel_.taken.store(operation_.order, std::memory_order_release);
    if (moved || has_moved_all()) group_.wake(peer());
    if (has_moved_all()) return Progress::kFinished;
    return moved ? Progress::kSome : Progress::kNothing;
  }

 private:
  bool get_head() {
    const std::uint64_t read = channel_.read.load(std::memory_order_relaxed);
    if (channel_.written.load(std::memory_order_acquire) == read) return false;
    Head head;
    around(group_, group_.ring(peer(), group_.rank()), read, sizeof head,
           [&](const std::byte* from, std::uint64_t done, std::uint64_t bytes) {
             std::memcpy(reinterpret_cast<std::byte*>(&head) + done, from, bytes);
           });
    collectives::check_message(head.request, operation_.request, ranks_[peer()], ranks_[group_.rank()]);
    source_ = head.source;
    direct_ = head.source.registered();
    channel_.read.store(read + sizeof head, std::memory_order_release);
    return true;
  }

  bool get_piece() {
    const std::uint64_t read = channel_.read.load(std::memory_order_relaxed);
    const std::uint64_t there = channel_.written.load(std::memory_order_acquire) - read;
    const std::uint64_t piece = std::min({there, kRingPiece, padded(left())});
    if (piece == 0) return false;
    const std::uint64_t bytes = std::min(piece, left());
    around(group_, group_.ring(peer(), group_.rank()), read, bytes,
           [&](const std::byte* from, std::uint64_t done, std::uint64_t n) {
             std::memcpy(operation_.whole().data() + moved_ + done, from, n);
           });
    moved_ += bytes;
    channel_.read.store(read + piece, std::memory_order_release);
    return true;
  }

  void copy_directly() {
    const std::byte* from = blocks_.address(peer(), source_, operation_.bytes());
    if (from == nullptr) {
      throw Error(Code::kCorrupt, "a message of {} bytes lies outside of its sender's memory", operation_.bytes());
    }
    std::memcpy(operation_.at(0), from, operation_.bytes());
    moved_ = operation_.bytes();
  }

  const std::vector<std::uint32_t>& ranks_;
  Place source_;
};

}  // namespace

std::unique_ptr<Transfer> make_send_transfer(Group& group, const Blocks& blocks, const Operation& operation) {
  return std::make_unique<SendTransfer>(group, blocks, operation);
}

std::unique_ptr<Transfer> make_receive_transfer(Group& group, const Blocks& blocks, const Operation& operation,
                                                const std::vector<std::uint32_t>& ranks) {
  return std::make_unique<ReceiveTransfer>(group, blocks, operation, ranks);
}

}  // namespace trainyard::shared_memory
