// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tcp/life_signs.h"
#include "collectives/tcp/mailbox.h"

namespace trainyard::tcp {

/// What a member says about itself to all others.
struct OwnState {
  std::uint32_t members = 0;   ///< The number of members of the group.
  std::uint64_t done = 0;      ///< How many operations of the group this member has finished.
  collectives::Answer answer;  ///< The answer to pings.
};

/// One other member of the group, as far as the control stream to it is concerned.
class Peer {
 public:
  /// `direct_bytes` is the most that a member sends together with its request. `own` must outlive the peer.
  Peer(const Link& link, const OwnState& own, std::size_t direct_bytes)
      : own_(own), line_(*link.control, own.done), asked_(direct_bytes), mailbox_(line_), life_(link) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Line& line() { return line_; }
  Mailbox& mailbox() { return mailbox_; }
  const Mailbox& mailbox() const { return mailbox_; }
  LifeSigns& life() { return life_; }
  const LifeSigns& life() const { return life_; }

  /// Returns true if operation `number` of the group may be announced to the member with a body of `bytes` bytes.
  bool may_ask(std::uint64_t number, std::size_t bytes) const;
  void ask(std::uint64_t number, const Request& request, Bytes body);
  /// The operations that the member has reached.
  const Slots& asked() const { return asked_; }

  /// Takes a frame of any kind but kFailed. Returns false if a member that follows the rules would not have sent it.
  bool take_frame(const FrameHead& head, Bytes body);

 private:
  const OwnState& own_;
  Line line_;
  Slots asked_;
  Mailbox mailbox_;
  LifeSigns life_;
};

}  // namespace trainyard::tcp
