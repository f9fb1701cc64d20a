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
  /// The sender has called the collective operation `number`. If the operation is small, the body contains its
  /// elements.
  kAsked,
  kDone,  ///< Reports only FrameHead::done and FrameHead::taken.
  /// The sender has called send() for message `number`. If the message is small, the body contains its elements;
  /// otherwise the body is empty, and the receiver must ask for the elements.
  kOffer,
  kWanted,   ///< The receiver of the large message `number` asks for its elements.
  kChunk,    ///< The next bytes of the large message `number`.
  kFailed,   ///< The sender has detected a failure. `code` is the error code, and the body is the text.
  kPing,     ///< A request for a kPong with the same number.
  kPong,     ///< The answer to a kPing. Request::count and Request::member contain an Answer.
  kGoodbye,  ///< The sender leaves the group.
};

/// The beginning of every frame on a control stream.
struct FrameHead {
  FrameKind kind = FrameKind::kDone;
  std::uint32_t code = 0;
  std::uint64_t number = 0;
  std::uint64_t done = 0;  ///< The number of collective operations that the sender of the frame has finished.
  /// How many messages (send and recv) the sender of the frame has received completely from the receiver of the frame.
  std::uint64_t taken = 0;
  Request request;
};
static_assert(sizeof(FrameHead) == 56);

}  // namespace trainyard::tcp
