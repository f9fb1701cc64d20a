// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "streams/connection.h"
#include "streams/handshake.h"
#include "streams/network.h"

namespace trainyard::streams {

/// What a member of a group (for example, a rank) must know about another member in order to connect to it.
struct Peer {
  std::string name;           ///< The name of the other member for errors, such as "rank 3".
  std::string endpoint;       ///< The address of the other member, as Listener::endpoint() returns it there.
  std::uint32_t streams = 0;  ///< The number of streams to make. Both members must give the same number.
  Secret secret;              ///< The secret that the two members share.
};

/// Everything that a member must know in order to connect to all other members.
struct Meeting {
  std::uint32_t own = 0;  ///< The number of the member that calls meet().
  /// The other members, indexed by their numbers. The entry at `own` is not used.
  std::vector<Peer> peers;
  Binding binding{};  ///< Identifies the purpose of the streams, such as a group of a run.
  std::chrono::milliseconds timeout{60'000};
};

/// A new stream to another member.
struct NewStream {
  Connection connection;
  StreamSecrets secrets;
};

/// Makes all streams between the calling member of a group and the other members; all members must call this function.
/// In each pair of members, the one with the lower number accepts the connections of the other. Returns the streams,
/// indexed by member; the list at `meeting.own` is empty. The streams between two members are in the same order at both
/// ends.
///
/// The connecting member counts a stream as made only when the accepting member has acknowledged that it has admitted
/// the connection. If a connection is closed before that, the member connects again.
///
/// Connections from senders that do not know the secret are closed. At most 64 connections whose sender is not known
/// yet are kept at a time, none of them longer than 5 seconds, and each takes up only a few hundred bytes.
///
/// Throws kTimeout if any stream is still missing after `meeting.timeout`. The error names the members at the other
/// ends of the missing streams, and states how many connections were refused.
std::vector<std::vector<NewStream>> meet(Listener& listener, const Meeting& meeting);

}  // namespace trainyard::streams
