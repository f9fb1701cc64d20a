// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/binary_reader.h"
#include "messages/binary_writer.h"
#include "messages/payload_meter.h"
#include "messages/schema_builder.h"

namespace trainyard {

/// The properties of a message type that the runtime needs to handle messages without knowing their C++ type. Processes
/// compare message types by their fingerprints.
///
/// Plugins are separate libraries, and each of them can have its own MessageType object for the same type. Two objects
/// with different addresses can therefore describe the same type, so the fingerprints are compared and not the
/// addresses. The functions are plain function pointers because an edge (a connection between two components) calls
/// them for every message.
struct MessageType {
  std::string name;
  std::string schema_text;
  std::uint64_t fingerprint = 0;

  /// Appends the binary form of `*message` to `body` and its distinct buffers to `payloads`. Throws kInvalidArgument if
  /// the wire format cannot carry the message.
  void (*encode)(const void* message, std::string& body, std::vector<Buffer>& payloads) = nullptr;

  /// Makes a new message from the binary form and returns it. The tensors of the message share the buffers in
  /// `payloads`. Throws kCorrupt if the bytes do not follow the format.
  std::shared_ptr<void> (*decode)(std::span<const std::byte> body, std::span<const Buffer> payloads) = nullptr;

  /// Returns the size of `*message` in bytes for the flow control of edges within a process (PayloadMeter).
  std::uint64_t (*payload_bytes)(const void* message) = nullptr;
};

/// Appends the binary form of `message` to `body` and its distinct buffers to `payloads`. Throws kInvalidArgument if
/// the wire format cannot carry the message (limits.h).
template <Message T>
void encode(const T& message, std::string& body, std::vector<Buffer>& payloads) {
  BinaryWriter writer(body, payloads);
  writer(message);
}

/// Fills `message` from the binary form. The tensors of `message` share the buffers in `payloads`. If the bytes do not
/// follow the format, throws kCorrupt; the content of `message` is then undefined.
template <Message T>
void decode(T& message, std::span<const std::byte> body, std::span<const Buffer> payloads = {}) {
  BinaryReader reader(body, payloads);
  reader(message);
  reader.finish();
}

/// Returns the size of `message` in bytes for the flow control of edges within a process (PayloadMeter).
template <Message T>
std::uint64_t payload_bytes(const T& message) {
  PayloadMeter meter;
  meter(message);
  return meter.bytes();
}

/// Returns the properties of the message type T. If T is not a Message, the call does not compile.
template <class T>
const MessageType& message_type() {
  static_assert(Message<T>);
  // The first call builds the description, by visiting a default-constructed T once. This is thread-safe.
  static const MessageType type = [] {
    MessageType made;
    made.name = T::kTypeName;
    made.schema_text = to_text(SchemaBuilder::build<T>());
    made.fingerprint = fingerprint(made.schema_text);
    made.encode = [](const void* message, std::string& body, std::vector<Buffer>& payloads) {
      encode(*static_cast<const T*>(message), body, payloads);
    };
    made.decode = [](std::span<const std::byte> body, std::span<const Buffer> payloads) -> std::shared_ptr<void> {
      auto message = std::make_shared<T>();
      decode(*message, body, payloads);
      return message;
    };
    made.payload_bytes = [](const void* message) { return trainyard::payload_bytes(*static_cast<const T*>(message)); };
    return made;
  }();
  return type;
}

// Trainyard's own message types are instantiated once, in message_types.cpp. If every component instantiated them
// again, this would take most of the build's time.
struct ArenaBlock;
struct ArenaInfo;
struct Batch;
struct CheckpointDone;
struct DatasetInfo;
struct Gradients;
struct LogRecord;
struct Metrics;
struct ModelInfo;
struct OptimizerState;
struct Order;
struct OrderDone;
struct Parameters;
struct Prediction;
struct RankMetrics;
struct RestoredStates;
struct RunState;
struct Scalar;
struct Snapshot;
struct SnapshotTaken;
struct StateAnswer;
struct StateRequest;
struct StatesTaken;

extern template const MessageType& message_type<ArenaBlock>();
extern template const MessageType& message_type<ArenaInfo>();
extern template const MessageType& message_type<Batch>();
extern template const MessageType& message_type<CheckpointDone>();
extern template const MessageType& message_type<DatasetInfo>();
extern template const MessageType& message_type<Gradients>();
extern template const MessageType& message_type<LogRecord>();
extern template const MessageType& message_type<Metrics>();
extern template const MessageType& message_type<ModelInfo>();
extern template const MessageType& message_type<OptimizerState>();
extern template const MessageType& message_type<Order>();
extern template const MessageType& message_type<OrderDone>();
extern template const MessageType& message_type<Parameters>();
extern template const MessageType& message_type<Prediction>();
extern template const MessageType& message_type<RankMetrics>();
extern template const MessageType& message_type<RestoredStates>();
extern template const MessageType& message_type<RunState>();
extern template const MessageType& message_type<Scalar>();
extern template const MessageType& message_type<Snapshot>();
extern template const MessageType& message_type<SnapshotTaken>();
extern template const MessageType& message_type<StateAnswer>();
extern template const MessageType& message_type<StateRequest>();
extern template const MessageType& message_type<StatesTaken>();

}  // namespace trainyard
