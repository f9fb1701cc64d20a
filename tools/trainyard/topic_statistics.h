// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>

#include "tools/trainyard/topic_window.h"

namespace trainyard::tools {

// Statistics about a topic, computed from its newest messages (TopicWindow). Messages that this program has missed are
// taken into account: the sequence numbers of the messages that arrived show how many were sent between them.

/// The mean, the smallest and largest value, and the standard deviation of a set of values.
struct Spread {
  double mean = 0;
  double min = 0;
  double max = 0;
  double deviation = 0;
};

/// The rate at which messages are sent, computed from the times at which they were sent.
struct Rate {
  double hz = 0;  ///< The messages of all sources together, per second.
  /// The time, in seconds, between two consecutive messages of one source. Messages that were missed are assumed to be
  /// evenly spaced between those that arrived.
  Spread interval_s;
};

/// The numbers of messages and bytes that are sent per second, and the sizes of the messages.
struct Bandwidth {
  double hz = 0;
  double body_bytes_per_s = 0;
  double tensor_bytes_per_s = 0;
  Spread message_bytes;  ///< The size of one message, including its tensors.
};

/// The delay of messages, in seconds: the time from sending a message until this program has read it.
struct Delay {
  double mean = 0;
  double min = 0;
  double max = 0;
  double p50 = 0;  ///< The median.
  double p99 = 0;
};

/// Returns the rate, or an empty optional if `records` does not contain two messages of the same source with different
/// sending times.
std::optional<Rate> rate_of(const std::deque<MessageRecord>& records);

/// Returns the bandwidth, or an empty optional if there is no rate.
std::optional<Bandwidth> bandwidth_of(const std::deque<MessageRecord>& records);

/// Returns the delay of the messages that were sent at `since_ns` or later, or an empty optional if there are none.
/// Earlier messages are ignored: they were kept for new subscribers of a latched topic, so the time since they were
/// sent is not a delay.
std::optional<Delay> delay_of(const std::deque<MessageRecord>& records, std::int64_t since_ns);

}  // namespace trainyard::tools
