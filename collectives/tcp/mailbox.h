// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/line.h"
#include "collectives/tcp/slots.h"

namespace trainyard::tcp {

/// The messages (send and recv) between one member ("this member") and one other member. The messages in each direction
/// are numbered from 1. The sender offers each message to the receiver. The offer of a small message contains its
/// elements. The elements of a large message are sent only when the receiver asks for them, and are received directly
/// into the memory that the receiver passed to recv.
class Mailbox {
 public:
  static constexpr std::size_t kSmallBytes = 16 << 10;
  static constexpr std::size_t kChunkBytes = 64 << 10;

  explicit Mailbox(Line& line) : line_(line), offered_(kSmallBytes) {}

  // Sending to the other member:

  /// Returns true if there is room to offer message `number` with `bytes` bytes of elements.
  bool may_offer(std::uint64_t number, std::size_t bytes) const;
  void offer(std::uint64_t number, const Request& request, Bytes body);
  /// Returns true if the other member has asked for the elements of message `number`.
  bool is_wanted(std::uint64_t number) const { return wanted_ >= number; }
  /// Sends the next bytes of the large message `number`. Returns the number of bytes that were accepted: at most
  /// kChunkBytes, and 0 if there is no room.
  std::size_t send_chunk(std::uint64_t number, Bytes bytes);

  // Receiving from the other member:

  const Slots& offered() const { return offered_; }
  /// Asks the other member for the elements of the large message `number`, which are then received into `into`. Only
  /// one message can be received in this way at a time, so have_all() must be true before the call. The memory must
  /// stay valid until have_all() returns true or stop_wanting() is called. Returns false if there is no room for the
  /// request yet.
  bool want(std::uint64_t number, std::span<std::byte> into);
  bool have_all() const { return incoming_.empty(); }
  void stop_wanting() { incoming_ = {}; }
  /// Records that message `number` has been received completely.
  void take(std::uint64_t number) { line_.take(number); }

  // These functions are called for the frames of the other member. Those that return a bool return false if the frame
  // violates the protocol.

  bool hear_offer(const FrameHead& head, Bytes body);
  void hear_wanted(std::uint64_t number);
  bool hear_chunk(std::uint64_t number, Bytes body);

 private:
  Line& line_;
  Slots offered_;
  /// The number of the last large message whose elements the other member has asked for.
  std::uint64_t wanted_ = 0;
  std::uint64_t incoming_number_ = 0;  ///< The number of the large message whose elements this member has asked for.
  std::span<std::byte> incoming_;      ///< Where the rest of these elements must be stored.
};

}  // namespace trainyard::tcp
