// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/line.h"
#include "collectives/tcp/slots.h"

namespace trainyard::tcp {

/// The messages between this member and one other member, which are numbered in each direction. A small message is sent
/// together with its offer. The elements of a large message are sent only when the receiver asks for them, and are
/// received directly into the receiver's memory.
class Mailbox {
 public:
  static constexpr std::size_t kSmallBytes = 16 << 10;
  static constexpr std::size_t kChunkBytes = 64 << 10;

  explicit Mailbox(Line& line) : line_(line), offered_(kSmallBytes) {}

  // To the other member.

  bool may_offer(std::uint64_t number, std::size_t bytes) const;
  void offer(std::uint64_t number, const Request& request, Bytes body);
  bool is_wanted(std::uint64_t number) const { return wanted_ >= number; }
  /// Sends the next bytes of the large message `number`. Returns the number of bytes that were accepted, which is 0 if
  /// there is no room.
  std::size_t send_chunk(std::uint64_t number, Bytes bytes);

  // From the other member.

  const Slots& offered() const { return offered_; }
  /// Asks the other member for the elements of the large message `number`, which are then received into `into`. This
  /// memory must stay valid until have_all() returns true or stop_wanting() is called. Returns false if there is no
  /// room for the request yet.
  bool want(std::uint64_t number, std::span<std::byte> into);
  bool have_all() const { return incoming_.empty(); }
  void stop_wanting() { incoming_ = {}; }
  /// Records that message `number` has been received completely.
  void take(std::uint64_t number) { line_.take(number); }

  // What the other member sends. They return false if a member that follows the rules would not have sent it.

  bool hear_offer(const FrameHead& head, Bytes body);
  void hear_wanted(std::uint64_t number);
  bool hear_chunk(std::uint64_t number, Bytes body);

 private:
  Line& line_;
  Slots offered_;
  /// The number of the last large message of this member that the other member has asked for.
  std::uint64_t wanted_ = 0;
  std::uint64_t incoming_number_ = 0;  ///< The number of the large message that this member has asked for.
  std::span<std::byte> incoming_;      ///< The memory for the part of this message that has not arrived yet.
};

}  // namespace trainyard::tcp
