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
  kAsked,    ///< The sender has reached operation `number` of the group; the body is its share of a small operation.
  kDone,     ///< Nothing but FrameHead::done and FrameHead::taken.
  kOffer,    ///< Message `number` to the receiver; the body is the message, or empty if it is large.
  kWanted,   ///< The receiver of a large message wants its elements now.
  kChunk,    ///< The next bytes of the large message `number`.
  kFailed,   ///< A failure that the sender has detected: `code`, and its text as the body.
  kPing,     ///< A request for a kPong with the same number.
  kPong,     ///< The answer to a kPing. Request::count and Request::member are an Answer.
  kGoodbye,  ///< The sender leaves the group.
};

/// The beginning of every frame.
struct FrameHead {
  FrameKind kind = FrameKind::kDone;
  std::uint32_t code = 0;
  std::uint64_t number = 0;
  std::uint64_t done = 0;   ///< How many operations of the group the sender has finished.
  std::uint64_t taken = 0;  ///< How many messages from the receiver of this frame the sender has received completely.
  Request request;
};
static_assert(sizeof(FrameHead) == 56);

}  // namespace trainyard::tcp
