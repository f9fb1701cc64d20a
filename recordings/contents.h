// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recordings/files.h"
#include "recordings/records.h"

namespace trainyard::recordings {

/// A part of the file that contains messages.
struct Chunk {
  ChunkIndex index;
  /// True if the messages are stored directly in the file and not in a chunk record. `index.offset` and `index.length`
  /// then describe the place of these messages.
  bool bare = false;
};

/// Everything that a file contains, except the messages themselves.
struct Contents {
  FileHeader header;
  std::map<std::uint16_t, SchemaRecord> schemas;
  std::map<std::uint16_t, ChannelRecord> channels;
  std::vector<Chunk> chunks;  ///< The chunks, in the order of the file.
  std::vector<Metadata> metadata;
  Statistics statistics;

  /// Returns the metadata record of this name, or null.
  const TextMap* find_metadata(std::string_view name) const;
};

/// Reads the head of the record at `offset`: its kind and the length of its content. Throws kCorrupt if the file ends
/// before the end of the record.
std::pair<Opcode, std::uint64_t> read_head(const InputFile& file, std::uint64_t offset);

/// Reads the content of a record whose head was read. Throws kCorrupt if it has more than `most` bytes.
std::string read_content(const InputFile& file, std::uint64_t offset, std::uint64_t length, std::uint64_t most);

/// Reads and decompresses the records of a chunk, and checks their checksum. Throws kCorrupt.
std::string read_chunk(const InputFile& file, const Chunk& chunk);

/// Decompresses the records of a chunk record, and checks their checksum. Throws kCorrupt.
std::string open_chunk(const ChunkRecord& record);

/// Throws kCorrupt if the file does not begin as MCAP files do.
void check_magic(const InputFile& file);

}  // namespace trainyard::recordings
