// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recordings/files.h"
#include "recordings/records.h"

namespace trainyard::recordings {

/// A part of a file that contains messages; normally a chunk record.
struct Chunk {
  ChunkIndex index;
  /// True if the messages are directly in the file and not in a chunk record. Then `index.offset` and `index.length`
  /// are the position and the size of their records.
  bool bare = false;
};

/// Describes what a file contains, without the messages themselves.
struct Contents {
  FileHeader header;
  std::map<std::uint16_t, SchemaRecord> schemas;
  std::map<std::uint16_t, ChannelRecord> channels;
  std::vector<Chunk> chunks;  ///< The chunks, in the order of the file.
  std::vector<Metadata> metadata;
  Statistics statistics;

  /// Returns the values of the last metadata record with this name, or null if there is none.
  const TextMap* find_metadata(std::string_view name) const;
};

/// Reads the head of the record at `offset`: its kind and the length of its content. Throws kCorrupt if the file ends
/// before the end of the record.
std::pair<Opcode, std::uint64_t> read_head(const InputFile& file, std::uint64_t offset);

/// Reads the content of the record whose head is at `offset`. `length` is the length that read_head() has returned for
/// the record. Throws kCorrupt if `length` is greater than `most`.
std::string read_content(const InputFile& file, std::uint64_t offset, std::uint64_t length, std::uint64_t most);

/// Reads and decompresses the records of a chunk. Throws kCorrupt if they are damaged or do not match their checksum.
std::string read_chunk(const InputFile& file, const Chunk& chunk);

/// Decompresses the records of a chunk record. Throws kCorrupt if they are damaged or do not match their checksum.
std::string open_chunk(const ChunkRecord& record);

/// Throws kCorrupt if the file does not begin with kMagic, as MCAP files do.
void check_magic(const InputFile& file);

}  // namespace trainyard::recordings
