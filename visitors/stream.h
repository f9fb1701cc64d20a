// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "messages/header.h"
#include "messages/schema.h"

namespace trainyard::visitors {

/// A topic that a program listens to.
struct Stream {
  std::string topic;
  std::string type;               ///< The name of the message type; empty until a publisher has answered.
  std::uint64_t fingerprint = 0;  ///< The fingerprint of the message type; 0 until a publisher has answered.
  std::string schema_text;        ///< The canonical text of the schema.
  Schema schema;                  ///< The schema with which the bodies can be decoded.
  std::uint64_t arrived = 0;      ///< How many messages have arrived.
  /// How many messages are missing: the sum of the gaps in the sequence numbers of all senders. Messages before the
  /// first that arrived do not count.
  std::uint64_t missed = 0;
};

/// Options that apply to all topics to which a program listens.
struct ListenOptions {
  std::string policy = "drop_oldest";  ///< "drop_oldest", or "latest" if only the newest message matters.
  /// "none" to receive only the dtypes and shapes of tensors, "inline" to receive their bytes, too.
  std::string payloads = "none";
  std::uint64_t window_messages = 256;
  std::uint64_t window_bytes = 16ull << 20;
};

/// A message in its binary form. The program can decode it with the schema, even if it does not know the type.
struct Received {
  Header header;
  zmq::message_t body;
  std::vector<zmq::message_t> payloads;  ///< One for each payload; empty frames if the payloads were not requested.
  const Stream* stream = nullptr;        ///< The topic; valid while the object that returned the message exists.
  /// The address of the publishing process; valid until the next message is requested.
  const std::string* endpoint = nullptr;
  std::int64_t arrival_time_ns = 0;  ///< When the message was taken from the socket, according to CLOCK_REALTIME.

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(body.data()), body.size()}; }
};

}  // namespace trainyard::visitors
