// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "recordings/contents.h"
#include "recordings/records.h"

namespace trainyard::recordings {

// What Trainyard writes into an MCAP file besides the messages: the metadata of each channel, and two metadata records,
// one with facts about the run and one with counts of messages.

/// The name of the first metadata record, which contains facts about the run.
inline constexpr const char* kRunMetadata = "trainyard.run";
/// The name of the last metadata record, which contains the numbers of messages that arrived and that were missed while
/// this file was written.
inline constexpr const char* kCountsMetadata = "trainyard.counts";

/// The key in the metadata record kRunMetadata under which the run's components are listed. The value is JSON: a list
/// of objects with the fields "component", "plugin", "process", "rank", "inputs" and "outputs". The last two are lists
/// of topics.
inline constexpr const char* kComponentsKey = "components";

/// The following constants are the keys of a channel's metadata. A recording has one channel for each pair of a topic
/// and a component that sends on it.
inline constexpr const char* kTypeKey = "type";  ///< The name of the message type.
/// The fingerprint of the type, as 16 hexadecimal digits.
inline constexpr const char* kFingerprintKey = "fingerprint";
inline constexpr const char* kSchemaKey = "schema";  ///< The schema text of the type, for encoding messages again.
/// The sending component; empty if it is not known, and for log records.
inline constexpr const char* kComponentKey = "component";
inline constexpr const char* kProcessKey = "process";  ///< The process of the component; empty if unknown.
inline constexpr const char* kSourceKey = "source";    ///< The index of the component in the plan (Header::source).

/// How many messages of a topic arrived and how many were missed.
struct TopicCount {
  std::uint64_t arrived = 0;
  std::uint64_t missed = 0;
};

/// The content of the metadata record kCountsMetadata.
struct Counts {
  std::map<std::string, TopicCount> topics;
  /// The reason, other than missed messages, why the recording is incomplete, for example that the disk was full; empty
  /// if there is none.
  std::string cut_short;
  /// Why the recording ended, such as "the run has ended".
  std::string ended;

  std::uint64_t arrived() const;
  std::uint64_t missed() const;
  /// Returns false if a message was missed or the recording was cut short.
  bool complete() const { return missed() == 0 && cut_short.empty(); }
};

TextMap to_metadata(const Counts& counts);
/// Converts the values of the metadata record kCountsMetadata to counts. Throws kCorrupt if a number is malformed.
Counts parse_counts(const TextMap& metadata);

/// Detects missed messages of one source by gaps in the sequence numbers. A number that is smaller than expected does
/// not count as a gap, because it means that the source was restarted or has repeated its last message.
class SequenceCounter {
 public:
  /// Takes the sequence number of the next message that has arrived. Returns how many messages were missed between the
  /// previous message and this one; 0 for the first message, unless expect() was called before it.
  std::uint64_t count(std::uint64_t sequence) {
    const std::uint64_t missed = begun_ && sequence > next_ ? sequence - next_ : 0;
    next_ = sequence + 1;
    begun_ = true;
    return missed;
  }

  bool begun() const { return begun_; }
  /// Sets the sequence number that the next message should have.
  void expect(std::uint64_t sequence) {
    next_ = sequence;
    begun_ = true;
  }

 private:
  std::uint64_t next_ = 0;
  bool begun_ = false;
};

}  // namespace trainyard::recordings
