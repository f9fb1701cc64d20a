// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "core/edge/envelope.h"
#include "messages/log_record.h"
#include "messages/message_type.h"

namespace trainyard::core {

/// Returns how long ago the message was sent, in nanoseconds, by the system clock. The result is negative if that clock
/// has been set back in the meantime.
inline std::int64_t age_of(const Envelope& message) {
  return std::chrono::system_clock::now().time_since_epoch().count() - message.send_time_ns;
}

/// Returns true if the header of the message tells which component sent it. This is the case for all messages except
/// records of the log.
inline bool names_its_sender(const Envelope& message) {
  return message.type == nullptr || message.type->fingerprint != message_type<LogRecord>().fingerprint;
}

}  // namespace trainyard::core
