// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <zmq.hpp>

namespace trainyard::core {

/// The unread bytes of one visitor: the number of bytes that were sent to it and that libzmq has not written to its
/// connection yet. A visitor is a program that attaches to a running launch.
///
/// The frames themselves keep this count. A frame adds its bytes when it is made. The bytes are subtracted when libzmq
/// releases the frame: after writing it to the connection, or when it discards the frame because the visitor has
/// disconnected. So the count does not depend on what the visitor reports, and it falls to zero after the visitor has
/// disconnected.
class VisitorAccount {
 public:
  /// Returns the number of unread bytes. Any thread may call this.
  std::uint64_t unread() const { return unread_.load(std::memory_order_relaxed); }

 private:
  friend class VisitorLedger;

  std::atomic<std::uint64_t> unread_{0};
};

/// The limits on the unread bytes of the visitors of one socket, for each visitor and for all visitors together.
///
/// The unread bytes of a visitor may reach half of the capacity that is still free. If only one visitor does not read,
/// it can therefore use a third of the capacity, which is half of the other two thirds. If several visitors do not
/// read, they share the capacity. The counted total never exceeds the capacity, and some of it is always left for a new
/// visitor.
class VisitorLedger {
 public:
  /// The capacity: the maximum number of unread bytes of all visitors together.
  static constexpr std::uint64_t kBytes = 128ull << 20;
  /// The number of bytes that are charged for a message in addition to its size, for libzmq's own structures.
  static constexpr std::uint64_t kMessageBytes = 512;

  VisitorLedger() : all_(std::make_shared<VisitorAccount>()) {}

  /// Returns true if the visitor's unread bytes are below its current limit. Otherwise, messages to it must wait.
  bool has_room(const VisitorAccount& account) const;
  /// Returns true if a message of this size may be sent to the visitor now: either the visitor's unread bytes would
  /// stay within its limit, or no visitor has unread bytes, in which case any size is allowed.
  bool fits(const VisitorAccount& account, std::uint64_t bytes) const;

  /// Returns a frame that refers to `size` bytes at `data`, which `owner` keeps alive. The account is charged `charged`
  /// bytes as long as libzmq keeps the frame. The ledger may be destroyed before the frame.
  zmq::message_t frame(const std::shared_ptr<VisitorAccount>& account, std::shared_ptr<const void> owner,
                       const void* data, std::size_t size, std::uint64_t charged) const;

  /// Returns the number of unread bytes of all visitors together.
  std::uint64_t unread() const { return all_->unread(); }

 private:
  std::uint64_t free() const;

  std::shared_ptr<VisitorAccount> all_;
};

}  // namespace trainyard::core
