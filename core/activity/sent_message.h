// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "core/edge/envelope.h"
#include "messages/log_record.h"
#include "messages/message_type.h"

namespace trainyard::core {

/// Returns how many nanoseconds ago the message was sent. Senders stamp messages with the time of the system clock, so
/// the result is negative if this clock has been set back since.
inline std::int64_t age_of(const Envelope& message) {
  return std::chrono::system_clock::now().time_since_epoch().count() - message.send_time_ns;
}

/// Returns true if the message identifies the component that sent it (Envelope::source). Log records do not; all other
/// messages do.
inline bool names_its_sender(const Envelope& message) {
  return message.type == nullptr || message.type->fingerprint != message_type<LogRecord>().fingerprint;
}

}  // namespace trainyard::core
