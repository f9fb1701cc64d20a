// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>

#include "tools/trainyard/topic_window.h"

namespace trainyard::tools {

// What a window of messages says about its topic. Messages that were missed count as well, because the numbers of the
// messages that arrived tell how many were sent between them.

/// Mean, extremes and standard deviation of some values.
struct Spread {
  double mean = 0;
  double min = 0;
  double max = 0;
  double deviation = 0;
};

/// How often messages are sent, computed from the times in their headers.
struct Rate {
  double hz = 0;  ///< The number of messages per second, of all sources together.
  /// The time in seconds between two consecutive messages of one source. If messages were missed between two that
  /// arrived, they are assumed to be evenly spaced.
  Spread interval_s;
};

/// How much data is sent.
struct Bandwidth {
  double hz = 0;
  double body_bytes_per_s = 0;
  double tensor_bytes_per_s = 0;
  Spread message_bytes;  ///< The size of one message, including its tensors.
};

/// How long messages travel, in seconds: from the moment at which they were sent to the moment at which this program
/// read them.
struct Delay {
  double mean = 0;
  double min = 0;
  double max = 0;
  double p50 = 0;  ///< The median.
  double p99 = 0;
};

/// Returns the rate, or nothing unless the window contains two messages of one source that were sent at different
/// times.
std::optional<Rate> rate_of(const std::deque<MessageRecord>& records);

/// Returns the bandwidth, or nothing if rate_of() returns nothing.
std::optional<Bandwidth> bandwidth_of(const std::deque<MessageRecord>& records);

/// Returns the delay of the messages that were sent at `since_ns` or later, or nothing if there are none. Earlier
/// messages are left out, because a latched topic had kept them, so their age is not a delay.
std::optional<Delay> delay_of(const std::deque<MessageRecord>& records, std::int64_t since_ns);

}  // namespace trainyard::tools
