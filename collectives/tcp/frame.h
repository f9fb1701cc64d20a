// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "collectives/request.h"
#include "streams/connection.h"
#include "streams/secret.h"

namespace trainyard::tcp {

using collectives::Request;
using streams::Bytes;

/// The kinds of frames on the control streams.
enum class FrameKind : std::uint32_t {
  kAsked,  ///< The sender has reached operation `number` of the group. The body is its share of a small operation.
  kDone,   ///< Only the fields FrameHead::done and FrameHead::taken matter.
  /// The offer of message `number` to the receiver. The body is the message, or empty if the message is large.
  kOffer,
  kWanted,   ///< The receiver of a large message asks for its elements.
  kChunk,    ///< The next bytes of the large message `number`.
  kFailed,   ///< A failure that the sender has detected. `code` is its code, and the body is its text.
  kPing,     ///< A request for a kPong with the same number.
  kPong,     ///< The answer to a kPing. Request::count and Request::member contain an Answer.
  kGoodbye,  ///< The sender leaves the group.
};

/// The beginning of every frame.
struct FrameHead {
  FrameKind kind = FrameKind::kDone;
  std::uint32_t code = 0;
  std::uint64_t number = 0;
  std::uint64_t done = 0;  ///< The number of operations of the group that the sender has finished.
  /// The number of messages from the receiver of this frame that its sender has received completely.
  std::uint64_t taken = 0;
  Request request;
};
static_assert(sizeof(FrameHead) == 56);

}  // namespace trainyard::tcp
