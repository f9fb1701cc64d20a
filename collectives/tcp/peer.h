// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/life_signs.h"
#include "collectives/tcp/mailbox.h"

namespace trainyard::tcp {

/// The state of a member, to which all its Peers refer.
struct OwnState {
  std::uint32_t members = 0;   ///< The number of members of the group.
  std::uint64_t done = 0;      ///< The number of collective operations that the member has finished.
  collectives::Answer answer;  ///< The member's answer to pings.
};

/// The state of the communication with one other member over the control stream.
class Peer {
 public:
  /// `direct_bytes` is the maximum number of bytes of elements that a member sends together with a request. `link` and
  /// `own` must outlive the peer.
  Peer(const Link& link, const OwnState& own, std::size_t direct_bytes)
      : own_(own), line_(*link.control, own.done), asked_(direct_bytes), mailbox_(line_), life_(link) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Line& line() { return line_; }
  Mailbox& mailbox() { return mailbox_; }
  const Mailbox& mailbox() const { return mailbox_; }
  LifeSigns& life() { return life_; }
  const LifeSigns& life() const { return life_; }

  /// Returns true if the collective operation `number` may be announced to the member now, together with `bytes` bytes
  /// of elements. Otherwise the member, or the send queue, has no room for it yet.
  bool may_ask(std::uint64_t number, std::size_t bytes) const;
  /// Announces the collective operation `number` to the member; may_ask() must have returned true.
  void ask(std::uint64_t number, const Request& request, Bytes body);
  /// Returns the requests with which the member has announced operations.
  const Slots& asked() const { return asked_; }

  /// Handles a frame from the member, of any kind except kFailed. Returns false if the frame violates the protocol.
  bool take_frame(const FrameHead& head, Bytes body);

 private:
  const OwnState& own_;
  Line line_;
  Slots asked_;
  Mailbox mailbox_;
  LifeSigns life_;
};

}  // namespace trainyard::tcp
