// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "messages/header.h"
#include "messages/schema.h"
#include "recordings/mcap_writer.h"
#include "recordings/recording.h"

namespace trainyard::recordings {

/// A topic together with a process that publishes it. A recorder keeps the feeds of all messages that it has received.
/// Feeds are compared by identity: two objects are two feeds, even if their contents are the same.
struct Feed {
  std::string topic;
  std::string process;  ///< The publishing process.
  std::string schema_text;
  Schema schema;
};

/// A message that has arrived.
struct Arrival {
  const std::shared_ptr<const Feed>& feed;
  Header header;
  std::span<const std::byte> body;
  std::span<const std::string_view> payloads;  ///< The bytes of the tensors; empty if they were not requested.
  std::uint64_t time_ns = 0;                   ///< When it arrived, in nanoseconds since 1970.
};

/// Writes the messages of a run to a recording: an MCAP file, or several of limited size.
///
/// For each topic, a recorder counts the messages that have arrived and those that were missed. It detects missed
/// messages by gaps in the sequence numbers of each source. The last metadata record of every file contains the counts
/// for this file. If the disk is full, take() or another function throws, and the recording ends with the messages
/// written before.
class Recorder {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string path;  ///< The first file, such as "run.mcap". The following files are "run_2.mcap" and so on.
    /// True to begin with the first file of the series that does not exist yet. If it is false, `path` must not exist.
    bool number_existing = false;
    /// True if the recorder listens from the start of the run. Then, if the first message that arrives from a source is
    /// not the first one that the source has sent, the messages before it count as missed.
    bool from_start = false;
    TextMap run;  ///< Facts about the run, for the metadata record kRunMetadata.
    /// The size at which a new file is begun; 0 means no limit. A new file is also begun when a file has 100,000
    /// chunks.
    std::uint64_t max_bytes = 0;
    std::uint64_t max_files = 0;  ///< If there are more files than this, the oldest is deleted; 0 means no limit.
    /// The payloads of a message are left out if their total size exceeds this number of bytes.
    std::uint64_t max_payload_bytes = 16 << 20;
    /// Returns the name of the component with this index in the plan, or an empty string if it is not known.
    std::function<std::string(std::uint32_t)> component_name;
  };

  /// Creates the first file. Throws what the constructor of OutputFile throws.
  explicit Recorder(Options options);
  ~Recorder();

  /// Records a message. Throws kIo if the disk is full, and kCorrupt if the body does not match the schema in
  /// `arrival.feed` or the message is too large (kMostMessageBytes).
  void take(const Arrival& arrival);

  /// Writes the messages in memory to the file if the first of them has waited for McapWriter::Options::flush_interval,
  /// and begins a new file if the current one is too large. Must be called at least every few hundred milliseconds,
  /// even if no messages arrive.
  void tick(Clock::time_point now);

  /// Writes the remaining messages and the counts, and closes the file. The destructor does not do this. `ended` is the
  /// reason why the recording ends. `cut_short` is the reason, other than missed messages, why the recording is
  /// incomplete; empty if there is none.
  void finish(const std::string& ended, const std::string& cut_short = "");

  /// Returns the counts of all files together.
  const Counts& counts() const { return all_; }
  /// Returns the path of the file that is being written.
  const std::string& path() const { return writer_->path(); }
  /// Returns the number of files that were created.
  std::uint64_t files() const { return files_; }
  /// Returns the size of all files together, including those that were deleted.
  std::uint64_t bytes() const { return closed_bytes_ + writer_->bytes(); }

 private:
  /// The messages of one component on one topic, and their channel in the current file.
  struct Stream {
    std::shared_ptr<const Feed> feed;  ///< Held, because the address of the object identifies the feed.
    SequenceCounter sequence;
    TopicCount* all = nullptr;   ///< The counts of the topic in all files.
    TopicCount* file = nullptr;  ///< The counts of the topic in the current file; valid only if `channel` is not 0.
    bool with_extras = true;     ///< False if trace and payloads are left out; see uses_reserved_names().
    std::uint16_t channel = 0;   ///< 0 if the current file has no channel for this stream yet.
  };

  Stream& stream_of(const Arrival& arrival);
  std::uint16_t add_channel(const Arrival& arrival);
  std::uint16_t schema_of(const Feed& feed);
  void open_file();
  void close_file(const std::string& ended, const std::string& cut_short);
  void rotate();
  bool keeps(std::span<const std::string_view> payloads) const;

  Options options_;
  std::unique_ptr<McapWriter> writer_;
  std::map<std::pair<const Feed*, std::uint32_t>, Stream> streams_;
  std::map<std::string, std::uint16_t> schemas_;  ///< The ids of the current file's schemas, by schema text.
  std::deque<std::string> paths_;                 ///< The files that exist, the oldest first.
  Counts all_;
  Counts file_;
  std::uint64_t files_ = 0;
  std::uint64_t number_ = 0;  ///< The number of the current file in the series.
  std::uint64_t closed_bytes_ = 0;
  std::string text_;  ///< The JSON of the message; its memory is reused.
};

/// Returns the path of file number `number` of a recording, counted from 1: "run.mcap", "run_2.mcap", ...
std::string part_path(const std::string& path, std::uint64_t number);

}  // namespace trainyard::recordings
