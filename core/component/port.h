#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/edge/envelope.h"

namespace trainyard {

class Component;
struct MessageType;

/// What happens when the receiver is slower than the sender. The policy belongs to the edge, not to the output, because
/// one output can feed a reader that must miss nothing and a viewer that may.
enum class Policy {
  kBlock,       ///< Nothing is ever lost; the sender's component is held back.
  kLatest,      ///< Only the newest undelivered message is kept.
  kDropOldest,  ///< The queue is bounded and loses its oldest message; drops are counted.
};

/// "block", "latest" or "drop_oldest": the words of launch files, plans and subscriptions.
std::string_view name_of(Policy policy);
/// The policy of that name; throws kInvalidArgument, with the words that there are, for any other.
Policy policy_named(std::string_view name);

/// How an input wants to be served. A launch file can override everything but `optional` and `every_rank`.
struct InputOptions {
  bool optional = false;  ///< True if the input may stay unconnected.
  Policy policy = Policy::kBlock;
  std::uint64_t window_messages = 64;      ///< At most this many messages under way.
  std::uint64_t window_bytes = 256 << 20;  ///< At most this many bytes under way, but always one message.
  std::string topic;                       ///< The default topic, if it differs from the port's name.
  /// For a component of which a run has only one: true to hear the senders of all ranks, instead of those of rank 0
  /// alone.
  bool every_rank = false;
};

/// How an output wants to be found. The input chooses everything else about an edge.
struct OutputOptions {
  std::string topic;  ///< The default topic, if it differs from the port's name. A leading '/' makes it absolute.
};

/// What a handler may ask about the message that it handles.
struct MessageInfo {
  std::uint64_t sequence = 0;
  std::int64_t send_time_ns = 0;  ///< When it was sent, by CLOCK_REALTIME.
  std::uint64_t trace = 0;
  std::uint32_t source = 0;  ///< The component index of the sender.
};

}  // namespace trainyard
