// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "recordings/contents.h"
#include "recordings/records.h"

namespace trainyard::recordings {

// What Trainyard writes into an MCAP file beyond the messages: how its channels describe themselves, and two metadata
// records, one about the run and one that counts.

/// The metadata record that is written first: the facts of the run.
inline constexpr const char* kRunMetadata = "trainyard.run";
/// The metadata record that is written last: what arrived and what was missed.
inline constexpr const char* kCountsMetadata = "trainyard.counts";

/// A fact of the run: its components as JSON, a list of {"component", "plugin", "process", "rank", "inputs",
/// "outputs"}, in which the last two are lists of topics.
inline constexpr const char* kComponentsKey = "components";

/// The keys of a channel's metadata. There is one channel for each topic and sending component.
inline constexpr const char* kTypeKey = "type";                ///< The name of the message type.
inline constexpr const char* kFingerprintKey = "fingerprint";  ///< Its fingerprint, as 16 hexadecimal digits.
inline constexpr const char* kSchemaKey = "schema";            ///< Its schema text, by which it can be encoded again.
inline constexpr const char* kComponentKey = "component";      ///< The sending component; may be empty.
inline constexpr const char* kProcessKey = "process";          ///< Its process; may be empty.
inline constexpr const char* kSourceKey = "source";            ///< Its index in the plan (Header::source).

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
  /// Returns false if anything that was sent is not in the file.
  bool complete() const { return missed() == 0 && cut_short.empty(); }
};

TextMap to_metadata(const Counts& counts);
/// Throws kCorrupt if a number is malformed.
Counts parse_counts(const TextMap& metadata);

/// Counts messages of one source by their sequence numbers. A number that is smaller than the expected one is no gap:
/// the source has been started again, or repeats its last message.
class SequenceCounter {
 public:
  /// Returns how many messages were missed just before this one.
  std::uint64_t count(std::uint64_t sequence) {
    const std::uint64_t missed = begun_ && sequence > next_ ? sequence - next_ : 0;
    next_ = sequence + 1;
    begun_ = true;
    return missed;
  }

  bool begun() const { return begun_; }
  /// Sets the number of the next message.
  void expect(std::uint64_t sequence) {
    next_ = sequence;
    begun_ = true;
  }

 private:
  std::uint64_t next_ = 0;
  bool begun_ = false;
};

}  // namespace trainyard::recordings
