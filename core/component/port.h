#pragma once

#include <cstdint>
#include <string>

#include "core/edge/envelope.h"

namespace trainyard {

class Component;
struct MessageType;

/// What happens when the receiver is slower than the sender. Belongs to the edge, not to the output: one output can
/// feed a reader that must miss nothing and a viewer that may.
enum class Policy {
  kBlock,       ///< Nothing is ever lost; the sender's component is held back.
  kLatest,      ///< Only the newest undelivered message is kept.
  kDropOldest,  ///< A bounded queue whose oldest message goes first; drops are counted.
};

/// How an input wants to be served; a launch file can override all but `optional` and `every_rank`.
struct InputOptions {
  bool optional = false;  ///< May stay unconnected.
  Policy policy = Policy::kBlock;
  std::uint64_t window_messages = 64;      ///< At most this many messages under way.
  std::uint64_t window_bytes = 256 << 20;  ///< At most this many bytes under way, but always one message.
  std::string topic;                       ///< Default topic if not the port's name.
  /// In a component that is made once: hears the senders of all ranks, and not those of rank 0 alone.
  bool every_rank = false;
};

/// How an output wants to be found. Everything else about an edge is the input's choice.
struct OutputOptions {
  std::string topic;  ///< Default topic if not the port's name; a leading '/' makes it absolute.
};

/// What a handler may ask about the message in hand.
struct MessageInfo {
  std::uint64_t sequence = 0;
  std::int64_t send_time_ns = 0;  ///< CLOCK_REALTIME.
  std::uint64_t trace = 0;
  std::uint32_t source = 0;  ///< Component index of the sender.
};

}  // namespace trainyard
