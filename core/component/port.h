// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/edge/envelope.h"

namespace trainyard {

class Component;
struct MessageType;

/// What happens when the receiver is slower than the sender. The policy belongs to the edge, not to the output, because
/// one output can feed a reader that needs every message and a viewer that does not.
enum class Policy {
  kBlock,       ///< Nothing is ever lost; the sender's component is held back.
  kLatest,      ///< Only the newest undelivered message is kept.
  kDropOldest,  ///< The queue is bounded and loses its oldest message; drops are counted.
};

/// Returns "block", "latest" or "drop_oldest", the words that launch files, plans and subscriptions use.
std::string_view name_of(Policy policy);
/// Returns the policy with that name. For any other word it throws kInvalidArgument, which lists the known ones.
Policy policy_named(std::string_view name);

/// The properties of an input. A launch file can override all of them except `optional` and `every_rank`.
struct InputOptions {
  bool optional = false;  ///< True if the input may stay unconnected.
  Policy policy = Policy::kBlock;
  std::uint64_t window_messages = 64;      ///< The maximum number of messages under way.
  std::uint64_t window_bytes = 256 << 20;  ///< The maximum number of bytes under way. A single message may exceed it.
  std::string topic;                       ///< The default topic, if it differs from the port's name.
  /// Matters only for a component of which a run has one: true to receive the messages of all ranks, false to receive
  /// only those of rank 0.
  bool every_rank = false;
};

/// The properties of an output. The input determines all other properties of an edge.
struct OutputOptions {
  std::string topic;  ///< The default topic, if it differs from the port's name. A leading '/' makes it absolute.
  /// True if a visitor that comes later receives the last message that was sent. It suits what is said once, such as
  /// what the model is.
  bool latched = false;
};

/// Facts about a message that its handler may use.
struct MessageInfo {
  std::uint64_t sequence = 0;
  std::int64_t send_time_ns = 0;  ///< When it was sent, by CLOCK_REALTIME.
  std::uint64_t trace = 0;
  std::uint32_t source = 0;  ///< The component index of the sender.
};

}  // namespace trainyard
