// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace trainyard::tools {

/// The facts about one message that a measurement needs. Both times are in nanoseconds since 1970.
struct MessageRecord {
  /// The source of the message: the number of the publisher, and the index of the component in the plan.
  std::pair<std::size_t, std::uint32_t> source;
  std::uint64_t sequence = 0;  ///< The number of the message among all messages of its source.
  std::int64_t sent_ns = 0;
  std::int64_t arrived_ns = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t tensor_bytes = 0;  ///< The size of the message's tensors, whose bytes were not received.
};

/// The newest messages of a topic, and the numbers of messages that have arrived or been missed since the beginning.
class TopicWindow {
 public:
  /// `capacity` is the number of messages that are kept.
  explicit TopicWindow(std::size_t capacity) : capacity_(capacity) {}

  void add(const MessageRecord& record);

  /// Returns the messages in the order of arrival.
  const std::deque<MessageRecord>& records() const { return records_; }

  /// Returns the number of messages that have arrived.
  std::uint64_t messages() const { return messages_; }

  /// Returns the number of missed messages: those that a source sent after its first message that arrived, and that did
  /// not arrive themselves.
  std::uint64_t missed() const { return missed_; }

 private:
  std::size_t capacity_;
  std::deque<MessageRecord> records_;
  /// The number of the newest message of each source.
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> newest_;
  std::uint64_t messages_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace trainyard::tools
