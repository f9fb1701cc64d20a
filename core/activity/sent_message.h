// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "core/edge/envelope.h"
#include "messages/log_record.h"
#include "messages/message_type.h"

namespace trainyard::core {

/// Returns how long ago the message was sent, in nanoseconds of the system's clock, which the sender used. The result
/// is negative if the clock was set back meanwhile.
inline std::int64_t age_of(const Envelope& message) {
  return std::chrono::system_clock::now().time_since_epoch().count() - message.send_time_ns;
}

/// Returns whether the message says which component sent it, which records of the log do not.
inline bool names_its_sender(const Envelope& message) {
  return message.type == nullptr || message.type->fingerprint != message_type<LogRecord>().fingerprint;
}

}  // namespace trainyard::core
