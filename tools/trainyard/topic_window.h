// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace trainyard::tools {

/// What a measurement keeps of one message. Both times are in nanoseconds since 1970.
struct MessageRecord {
  /// The sender: the publisher, and the number of the component in the plan.
  std::pair<std::size_t, std::uint32_t> source;
  std::uint64_t sequence = 0;  ///< The number of the message among the messages of the source.
  std::int64_t sent_ns = 0;
  std::int64_t arrived_ns = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t tensor_bytes = 0;  ///< What the tensors of the message refer to; it was not sent to us.
};

/// The newest messages of a topic, and the numbers of all messages that have arrived or been missed since the
/// beginning.
class TopicWindow {
 public:
  /// `capacity` is the number of messages that are kept.
  explicit TopicWindow(std::size_t capacity) : capacity_(capacity) {}

  void add(const MessageRecord& record);

  /// Returns the messages in the order of arrival.
  const std::deque<MessageRecord>& records() const { return records_; }

  /// Returns how many messages have arrived.
  std::uint64_t messages() const { return messages_; }

  /// Returns how many messages have been sent since the first one from their source and have not arrived.
  std::uint64_t missed() const { return missed_; }

 private:
  std::size_t capacity_;
  std::deque<MessageRecord> records_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> newest_;  ///< The last sequence of each source.
  std::uint64_t messages_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace trainyard::tools
