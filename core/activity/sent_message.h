// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "core/edge/envelope.h"
#include "messages/log_record.h"
#include "messages/message_type.h"

namespace trainyard::core {

/// Returns the time in nanoseconds since the message was sent. The time of sending was taken from the system clock, so
/// the result is negative if this clock has been set back since then.
inline std::int64_t age_of(const Envelope& message) {
  return std::chrono::system_clock::now().time_since_epoch().count() - message.send_time_ns;
}

/// Returns true if Envelope::source is the index of the component that sent the message. This is so for all messages
/// except log records.
inline bool names_its_sender(const Envelope& message) {
  return message.type == nullptr || message.type->fingerprint != message_type<LogRecord>().fingerprint;
}

}  // namespace trainyard::core
