// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/line.h"
#include "collectives/tcp/slots.h"

namespace trainyard::tcp {

/// The messages between this member and one other. They are numbered in each direction. A small message travels with
/// its offer; the elements of a large one follow when the receiver wants them, straight into its memory.
class Mailbox {
 public:
  static constexpr std::size_t kSmallBytes = 16 << 10;
  static constexpr std::size_t kChunkBytes = 64 << 10;

  explicit Mailbox(Line& line) : line_(line), offered_(kSmallBytes) {}

  // To the other member.

  bool may_offer(std::uint64_t number, std::size_t bytes) const;
  void offer(std::uint64_t number, const Request& request, Bytes body);
  bool is_wanted(std::uint64_t number) const { return wanted_ >= number; }
  /// Sends the next bytes of a large message. Returns how many were taken, 0 if there is no room.
  std::size_t send_chunk(std::uint64_t number, Bytes bytes);

  // From the other member.

  const Slots& offered() const { return offered_; }
  /// Lets the elements of the large message `number` come to `into`, which must stay valid until have_all() or
  /// stop_wanting(). Returns false if there is no room yet to tell the member.
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
  std::uint64_t wanted_ = 0;           ///< The last large message from here that the member wants.
  std::uint64_t incoming_number_ = 0;  ///< The large message that this member wants.
  std::span<std::byte> incoming_;      ///< Where the rest of it goes.
};

}  // namespace trainyard::tcp
