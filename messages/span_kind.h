// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard {

/// What a span describes. The words are part of the wire format (docs/wire_format.md).
enum class SpanKind : std::uint8_t {
  kHandler,     ///< A handler, hook or task of a component ran.
  kWait,        ///< A component could not go on. The peer is what it waited for, and the name is the kind of wait.
  kHop,         ///< A message was in flight, from the call of send() to the beginning of the handler.
  kRead,        ///< A batch was read from the dataset.
  kForward,     ///< A forward pass.
  kBackward,    ///< A backward pass.
  kCollective,  ///< Ranks exchanged data, or a rank waited until they had.
  kUpdate,      ///< The optimizer changed the parameters.
  kSnapshot,    ///< The state of the run was copied.
  kWrite,       ///< A checkpoint was written.
  kStep,        ///< A training step of a rank, from the end of the step before.
  kOperation,   ///< An operation of LibTorch.
  kOther,       ///< Any other part of a component's work that it has named.
};
constexpr auto words_of(SpanKind) {
  return words("kind of span", "handler", "wait", "hop", "read", "forward", "backward", "collective", "update",
               "snapshot", "write", "step", "operation", "other");
}

}  // namespace trainyard
