// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/life_signs.h"
#include "collectives/tcp/mailbox.h"

namespace trainyard::tcp {

/// The facts that a member tells all other members about itself.
struct OwnState {
  std::uint32_t members = 0;   ///< The number of members of the group.
  std::uint64_t done = 0;      ///< The number of operations of the group that this member has finished.
  collectives::Answer answer;  ///< What this member answers to pings.
};

/// The state of the exchange with one other member over the control stream.
class Peer {
 public:
  /// `direct_bytes` is the maximum number of bytes that a member sends together with its request. `own` must outlive
  /// the peer.
  Peer(const Link& link, const OwnState& own, std::size_t direct_bytes)
      : own_(own), line_(*link.control, own.done), asked_(direct_bytes), mailbox_(line_), life_(link) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Line& line() { return line_; }
  Mailbox& mailbox() { return mailbox_; }
  const Mailbox& mailbox() const { return mailbox_; }
  LifeSigns& life() { return life_; }
  const LifeSigns& life() const { return life_; }

  /// Returns true if operation `number` of the group may be announced to the member now, with a body of `bytes` bytes.
  bool may_ask(std::uint64_t number, std::size_t bytes) const;
  void ask(std::uint64_t number, const Request& request, Bytes body);
  /// Returns the operations that the member has announced.
  const Slots& asked() const { return asked_; }

  /// Handles a frame of any kind except kFailed. Returns false if the frame violates the protocol.
  bool take_frame(const FrameHead& head, Bytes body);

 private:
  const OwnState& own_;
  Line line_;
  Slots asked_;
  Mailbox mailbox_;
  LifeSigns life_;
};

}  // namespace trainyard::tcp
