// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/tcp/frame.h"

namespace trainyard::tcp {

/// The requests or messages of one other member that this member has not finished yet, in a ring of slots of a fixed
/// size.
class Slots {
 public:
  /// The number of slots, which is also the number of operations by which one member may be ahead of another.
  static constexpr std::uint64_t kCount = 32;

  explicit Slots(std::size_t bytes) : bytes_(bytes) {}

  /// Stores the request and the body of `number`, which must be the next number. `finished` is the number of requests
  /// that have been finished. Returns false if the request violates the protocol.
  bool put(std::uint64_t number, std::uint64_t finished, const Request& request, Bytes body);
  /// Returns the request of `number`, or null if it has not arrived yet.
  const Request* request(std::uint64_t number) const;
  Bytes body(std::uint64_t number) const;

 private:
  struct Slot {
    Request request;
    std::size_t size = 0;
  };

  const std::size_t bytes_;
  std::uint64_t last_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::byte> bodies_;  ///< The bodies of all slots; allocated when the first body arrives.
};

}  // namespace trainyard::tcp
