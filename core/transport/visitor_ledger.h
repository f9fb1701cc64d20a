// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <zmq.hpp>

namespace trainyard::core {

/// The number of bytes that were sent to one visitor and have not been written to its connection: its unread bytes.
///
/// They are counted in the frames themselves: a frame adds its bytes when it is made, and libzmq subtracts them when it
/// has written the frame to the connection, or discards it because the visitor is gone. So the count does not depend on
/// what the visitor says, and it falls to zero by itself when the visitor goes.
class VisitorAccount {
 public:
  /// Returns the number of unread bytes. Any thread may call it.
  std::uint64_t unread() const { return unread_.load(std::memory_order_relaxed); }

 private:
  friend class VisitorLedger;

  std::atomic<std::uint64_t> unread_{0};
};

/// Limits how much the visitors of one socket may leave unread, each of them and all together.
///
/// A visitor may have as much unread as half of what is still free. So a single visitor gets a third of the whole, many
/// greedy ones share it, the whole is never exceeded, and a new visitor always finds room, however many others do not
/// read.
class VisitorLedger {
 public:
  /// The whole, in bytes.
  static constexpr std::uint64_t kBytes = 128ull << 20;
  /// What a message costs in addition to its bytes: libzmq's own structures for its frames.
  static constexpr std::uint64_t kMessageBytes = 512;

  VisitorLedger() : all_(std::make_shared<VisitorAccount>()) {}

  /// Returns true if something may be sent to the visitor now.
  bool has_room(const VisitorAccount& account) const;
  /// Returns true if a message of this size may be sent to the visitor now. A message that is larger than any visitor's
  /// share may be sent only while nobody has anything unread.
  bool fits(const VisitorAccount& account, std::uint64_t bytes) const;

  /// Returns a frame over bytes that `owner` keeps alive, which counts `charged` bytes to the account for as long as
  /// libzmq keeps it. The ledger may be destroyed before the frame.
  zmq::message_t frame(const std::shared_ptr<VisitorAccount>& account, std::shared_ptr<const void> owner,
                       const void* data, std::size_t size, std::uint64_t charged) const;

  /// Returns the number of unread bytes of all visitors together.
  std::uint64_t unread() const { return all_->unread(); }

 private:
  std::uint64_t free() const;

  std::shared_ptr<VisitorAccount> all_;
};

}  // namespace trainyard::core
