// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/edge/envelope.h"
#include "messages/edge_words.h"

namespace trainyard {

class Component;
struct MessageType;

/// The properties of an input. They apply to every edge (connection from an output) that ends at the input. A launch
/// file can override the policy, the windows and the topic.
struct InputOptions {
  bool optional = false;           ///< True if the input may stay unconnected.
  Policy policy = Policy::kBlock;  ///< What an edge does when this input is slower than the sender.
  /// The maximum number of messages in flight on one edge, that is, sent but not yet handled.
  std::uint64_t window_messages = 64;
  /// The limit on the number of bytes in flight on one edge. The next message is sent while fewer bytes are in flight,
  /// whatever its own size, so it can exceed the limit.
  std::uint64_t window_bytes = 256 << 20;
  std::string topic;  ///< The default topic, if it differs from the port's name.
  /// True if the input receives the messages of all ranks, false if it receives only the messages of rank 0. This
  /// matters only for a component that exists once in a run with several ranks.
  bool every_rank = false;
  /// True if every sender to this input must run on the event loop of the input's owner. This ensures that, while a
  /// handler runs, no sender on another thread accesses the data that the messages refer to. A plan that places a
  /// sender on another event loop is refused.
  bool same_loop = false;
};

/// The properties of an output. The policy of an edge, and how many messages may be in flight on it, are properties of
/// the edge's input.
struct OutputOptions {
  std::string topic;  ///< The default topic, if it differs from the port's name. A leading '/' makes it absolute.
  /// True if the output keeps its last message for visitors (programs that attach to the run). A visitor that
  /// subscribes later then receives this message, too. Use this for facts that are announced once, such as the
  /// description of the model.
  bool latched = false;
};

/// The values from the header of a message that are passed to the handler.
struct MessageInfo {
  std::uint64_t sequence = 0;     ///< The number of the message at its output: 0, 1, 2, ...
  std::int64_t send_time_ns = 0;  ///< When the message was sent, according to CLOCK_REALTIME.
  std::uint64_t trace = 0;        ///< The number of the batch that caused the message; 0 if there is none.
  std::uint32_t source = 0;       ///< The index of the sending component in the plan.
};

}  // namespace trainyard
