// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "recordings/compression.h"
#include "recordings/files.h"
#include "recordings/records.h"

namespace trainyard::recordings {

/// Writes an MCAP file with compressed chunks, an index and checksums.
///
/// Messages are collected in memory, in a chunk. The chunk is written to the file when it has Options::chunk_bytes
/// bytes or when its first message has waited for Options::flush_interval. So if the program is killed, only the
/// messages of the current chunk are lost. The file then lacks the index and the summary, which repair() can add. As
/// the file grows, only the index in the writer's memory grows with it, by a few hundred bytes for every chunk.
///
/// All functions throw kIo if the file cannot be written. The part that was written before remains readable.
class McapWriter {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::size_t chunk_bytes = 1 << 20;               ///< The size, before compression, at which a chunk is written.
    std::chrono::milliseconds flush_interval{1000};  ///< How long a message may stay in memory before it is written.
    int compression_level = 1;                       ///< The compression level of zstd.
  };

  /// Creates the file, which must not exist yet. Throws what the constructor of OutputFile throws.
  McapWriter(std::string path, const FileHeader& header, Options options);
  McapWriter(std::string path, const FileHeader& header) : McapWriter(std::move(path), header, Options{}) {}

  /// Adds a schema or a channel, and returns its id. The `id` of the argument is ignored. A schema must be added before
  /// its channels. Throws kUnsupported if the file already has 65535 schemas or channels, respectively.
  std::uint16_t add(SchemaRecord schema);
  std::uint16_t add(ChannelRecord channel);

  /// Appends a message to the chunk, and writes the chunk if it is large enough. The channel must have been added.
  void write(const MessageRecord& message);
  /// Writes the chunk if its first message has waited for the flush interval. Must be called frequently.
  void flush_if_due(Clock::time_point now) {
    if (chunk_messages_ != 0 && now - chunk_begun_ >= options_.flush_interval) flush();
  }
  /// Writes the chunk if it contains anything.
  void flush();
  /// Writes a metadata record.
  void write(const Metadata& metadata);

  /// Writes the chunk, the index and the summary. The destructor does not do this. Nothing can be written afterwards.
  void close();

  const std::string& path() const { return file_.path(); }
  /// Returns the current size of the file, without the chunk in memory.
  std::uint64_t bytes() const { return file_.size(); }
  std::uint64_t messages() const { return statistics_.messages; }
  std::size_t chunks() const { return chunks_.size(); }

 private:
  void index_message(const MessageRecord& message);
  // Appends the chunk's MessageIndex records to block_ and describes them in `chunk`.
  void append_message_indexes(ChunkIndex& chunk);
  void begin_chunk();
  std::string summary(std::uint64_t start) const;

  OutputFile file_;
  Options options_;
  Compressor compressor_;
  std::vector<SchemaRecord> schemas_;    ///< The schema with the id i is at index i - 1.
  std::vector<ChannelRecord> channels_;  ///< The channel with the id i is at index i - 1.
  std::vector<ChunkIndex> chunks_;
  std::vector<MetadataIndex> metadata_;
  Statistics statistics_;

  std::string chunk_;                 ///< The records of the current chunk, which is still in memory.
  std::uint64_t chunk_messages_ = 0;  ///< The number of messages in the current chunk.
  ChunkRecord chunk_times_;        ///< Contains the earliest and the latest time of the messages in the current chunk.
  Clock::time_point chunk_begun_;  ///< When the first message of the current chunk was added.
  std::vector<MessageIndex> chunk_index_;  ///< The index of the messages in the current chunk, by channel.
  std::string block_;  ///< The bytes that are written to the file in one piece; a member so that its memory is reused.
};

}  // namespace trainyard::recordings
