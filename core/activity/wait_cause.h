// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard::core {

/// The kinds of things that a component can wait for. The words are part of the wire format (docs/wire_format.md).
enum class WaitKind : std::uint8_t {
  kMessage,  ///< A message from another component.
  kRoom,     ///< Room at another component, on an edge with the policy `block`.
  kThread,   ///< The component's turn on its event loop, which ran other components meanwhile.
  kRank,     ///< Another rank, in an operation of a collective.
  kRanks,    ///< Other ranks, if it is not known which.
  kDevice,   ///< The accelerator's device, which has not finished its work.
  kOthers,   ///< Several causes that were too many to count separately.
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

  /// Returns the cause as one number, which is never 0, and back.
  constexpr std::uint64_t packed() const { return (static_cast<std::uint64_t>(kind) + 1) << 32 | number; }
  static constexpr WaitCause unpacked(std::uint64_t cause) {
    return {static_cast<WaitKind>((cause >> 32) - 1), static_cast<std::uint32_t>(cause)};
  }
};

}  // namespace trainyard::core
