// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace trainyard::tools {

/// What the measurements of `topic hz`, `bw` and `delay` need to know about one message. Both times are in nanoseconds
/// since 1970.
struct MessageRecord {
  /// The sender: a hash of the address of its process, and the index of the component in the plan.
  std::pair<std::size_t, std::uint32_t> source;
  /// The number that the source has given to the message; it increases by 1 with each message.
  std::uint64_t sequence = 0;
  std::int64_t sent_ns = 0;
  std::int64_t arrived_ns = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t tensor_bytes = 0;  ///< The size of the message's tensors, whose bytes were not received.
};

/// Keeps the records of the newest messages of a topic. Also counts all messages that have arrived, and all that were
/// missed.
class TopicWindow {
 public:
  /// `capacity` is the maximum number of records that are kept.
  explicit TopicWindow(std::size_t capacity) : capacity_(capacity) {}

  void add(const MessageRecord& record);

  /// Returns the records that are kept, in the order in which the messages arrived.
  const std::deque<MessageRecord>& records() const { return records_; }

  /// Returns the number of all messages that have arrived.
  std::uint64_t messages() const { return messages_; }

  /// Returns how many messages did not arrive although they were sent after the first message that arrived from the
  /// same source.
  std::uint64_t missed() const { return missed_; }

 private:
  std::size_t capacity_;
  std::deque<MessageRecord> records_;
  /// The last sequence number of each source.
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> newest_;
  std::uint64_t messages_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace trainyard::tools
