// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard {

/// The kind of activity that a span (messages/spans.h) describes. The words for the kinds are part of the wire format
/// (docs/wire_format.md).
enum class SpanKind : std::uint8_t {
  kHandler,     ///< A handler, hook or task of a component ran.
  kWait,        ///< A component waited. Span::name is the kind of wait, and Span::peer is what it waited for.
  kHop,         ///< A message was in flight, from send() to the beginning of the handler.
  kRead,        ///< A batch was read from the dataset.
  kForward,     ///< A forward pass.
  kBackward,    ///< A backward pass.
  kCollective,  ///< Ranks exchanged data, or a rank waited for other ranks in such an exchange.
  kUpdate,      ///< The optimizer changed the parameters.
  kSnapshot,    ///< The state of the run was copied.
  kWrite,       ///< A checkpoint was written.
  kStep,        ///< A training step of a rank, measured from the end of the previous step.
  kOperation,   ///< An operation of LibTorch.
  kOther,       ///< Another part of a component's work, under a name that the component has chosen.
};
constexpr auto words_of(SpanKind) {
  return words("kind of span", "handler", "wait", "hop", "read", "forward", "backward", "collective", "update",
               "snapshot", "write", "step", "operation", "other");
}

}  // namespace trainyard
