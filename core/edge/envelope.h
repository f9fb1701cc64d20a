// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace trainyard {
struct MessageType;
}  // namespace trainyard

namespace trainyard::core {

/// A message on an edge: a reference to the immutable message, and the values of its header. Each edge (connection to
/// an input) gets a copy of the envelope, which is cheap: it costs one increment of a reference count.
struct Envelope {
  std::shared_ptr<const void> message;
  const MessageType* type = nullptr;
  std::uint64_t sequence = 0;     ///< The number of the message at its output: 0, 1, 2, ...
  std::int64_t send_time_ns = 0;  ///< When the message was sent, according to CLOCK_REALTIME.
  std::uint64_t trace = 0;        ///< The number of the batch that caused the message; 0 if there is none.
  std::uint64_t bytes = 0;        ///< The size of the message, for the limit of bytes in flight on an edge.
  std::uint32_t source = 0;       ///< The index of the sending component in the plan.
};

}  // namespace trainyard::core
