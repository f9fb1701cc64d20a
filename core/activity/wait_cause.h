// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard::core {

/// The kinds of things that a component can wait for. The words are part of the wire format (docs/wire_format.md).
enum class WaitKind : std::uint8_t {
  kMessage,  ///< A message from another component.
  /// Room for another message on an edge (a connection to a receiver) with the policy `block`, which is full because
  /// the receiver is slow.
  kRoom,
  kThread,  ///< The component's turn on its event loop, which was running other components.
  kRank,    ///< Another rank, in an operation of a collective.
  kRanks,   ///< Other ranks, if it is not known which of them.
  kDevice,  ///< The device, such as a GPU, which had not finished its work.
  kOthers,  ///< All other causes, if there are too many to list each of them (Account::add_wait).
};
constexpr auto words_of(WaitKind) {
  return words("cause of waiting", "message", "room", "thread", "rank", "ranks", "device", "others");
}

/// What a component waits for. `number` is the index of the sender in the plan for kMessage, the id of the edge for
/// kRoom, the number of the rank for kRank, and 0 otherwise.
struct WaitCause {
  WaitKind kind = WaitKind::kOthers;
  std::uint32_t number = 0;
  friend bool operator==(const WaitCause&, const WaitCause&) = default;

  /// Converts the cause to a number, which is never 0. The function unpacked() converts the number back.
  constexpr std::uint64_t packed() const { return (static_cast<std::uint64_t>(kind) + 1) << 32 | number; }
  static constexpr WaitCause unpacked(std::uint64_t cause) {
    return {static_cast<WaitKind>((cause >> 32) - 1), static_cast<std::uint32_t>(cause)};
  }
};

}  // namespace trainyard::core
