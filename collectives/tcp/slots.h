// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/tcp/frame.h"

namespace trainyard::tcp {

/// Stores the requests or the small messages that have arrived from one other member, until their receiver has finished
/// with them. The memory is limited: there are kCount slots, which are reused in turn.
class Slots {
 public:
  /// The number of slots. A member may therefore be at most this many operations ahead of another member.
  static constexpr std::uint64_t kCount = 32;

  /// `bytes` is the maximum size of a body.
  explicit Slots(std::size_t bytes) : bytes_(bytes) {}

  /// Stores request or message number `number`, which must be the next one. `finished` is the number of requests or
  /// messages that the receiver has finished with. Returns false, without storing anything, if the number is wrong, the
  /// body is too large or all slots are in use; the sender has then violated the protocol.
  bool put(std::uint64_t number, std::uint64_t finished, const Request& request, Bytes body);
  /// Returns request number `number`, or the request that came with message number `number`; null if it has not arrived
  /// yet.
  const Request* request(std::uint64_t number) const;
  /// Returns the body of request or message number `number`, which must have arrived.
  Bytes body(std::uint64_t number) const;

 private:
  struct Slot {
    Request request;
    std::size_t size = 0;
  };

  const std::size_t bytes_;
  std::uint64_t last_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::byte> bodies_;  ///< The bodies of all slots; allocated when the first request or message arrives.
};

}  // namespace trainyard::tcp
