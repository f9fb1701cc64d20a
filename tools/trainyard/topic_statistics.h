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

/// How often messages are sent, from the times at which they were sent.
struct Rate {
  double hz = 0;  ///< The messages of all sources together.
  /// The time in seconds between two messages of one source. If messages were missed between two that arrived, they are
  /// taken as evenly spaced.
  Spread interval_s;
};

/// How much is sent.
struct Bandwidth {
  double hz = 0;
  double body_bytes_per_s = 0;
  double tensor_bytes_per_s = 0;
  Spread message_bytes;  ///< Of one message, with its tensors.
};

/// How long messages are under way, in seconds, from the time at which they were sent until they were read here.
struct Delay {
  double mean = 0;
  double min = 0;
  double max = 0;
  double p50 = 0;  ///< The median.
  double p99 = 0;
};

/// Returns nothing if no two messages of one source, sent at different times, are in the window.
std::optional<Rate> rate_of(const std::deque<MessageRecord>& records);

/// Returns nothing if there is no rate.
std::optional<Bandwidth> bandwidth_of(const std::deque<MessageRecord>& records);

/// Returns nothing if no message was sent at `since_ns` or later. Those that were sent earlier are messages that a
/// latched topic has kept, and were not under way all this time.
std::optional<Delay> delay_of(const std::deque<MessageRecord>& records, std::int64_t since_ns);

}  // namespace trainyard::tools
