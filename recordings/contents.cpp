// SPDX-License-Identifier: Apache-2.0
#include "recordings/contents.h"

#include <algorithm>

#include "messages/error.h"
#include "recordings/bytes.h"
#include "recordings/compression.h"
#include "recordings/limits.h"

namespace trainyard::recordings {

const TextMap* Contents::find_metadata(std::string_view name) const {
  // If several records have the name, the last is returned, because a recorder may write a first version when it
  // begins.
  const auto found =
      std::find_if(metadata.rbegin(), metadata.rend(), [&](const auto& one) { return one.name == name; });
  return found == metadata.rend() ? nullptr : &found->values;
}

std::pair<Opcode, std::uint64_t> read_head(const InputFile& file, std::uint64_t offset) {
  const std::string head = file.read(offset, kRecordHead);
  ByteReader reader(head, "record");
  const auto opcode = static_cast<Opcode>(reader.number<std::uint8_t>());
  const auto length = reader.number<std::uint64_t>();
  if (length > file.size() - offset - kRecordHead) {
    throw Error(Code::kCorrupt, "the record at byte {} claims {} bytes, where {} remain", offset, length,
                file.size() - offset - kRecordHead);
  }
  return {opcode, length};
}

std::string read_content(const InputFile& file, std::uint64_t offset, std::uint64_t length, std::uint64_t most) {
  if (length > most) {
    throw Error(Code::kCorrupt, "the record at byte {} has {} bytes; at most {} are allowed", offset, length, most);
  }
  return file.read(offset + kRecordHead, length);
}

std::string open_chunk(const ChunkRecord& record) {
  std::string records = decompress(record.compression, record.records, record.size);
  if (const std::uint32_t crc = crc32_of(records); record.crc != 0 && crc != record.crc) {
    throw Error(Code::kCorrupt, "the checksum of a chunk is {:08x}, but it should be {:08x}", crc, record.crc);
  }
  return records;
}

std::string read_chunk(const InputFile& file, const Chunk& chunk) {
  if (chunk.index.length > kMostChunkBytes) {
    throw Error(Code::kCorrupt, "a chunk has {} bytes; at most {} are allowed", chunk.index.length, kMostChunkBytes);
  }
  if (chunk.bare) return file.read(chunk.index.offset, chunk.index.length);
  const auto [opcode, length] = read_head(file, chunk.index.offset);
  if (opcode != Opcode::kChunk) throw Error(Code::kCorrupt, "there is no chunk at byte {}", chunk.index.offset);
  const std::string content = read_content(file, chunk.index.offset, length, kMostChunkBytes);
  return open_chunk(parse_chunk(content));
}

void check_magic(const InputFile& file) {
  if (file.size() < kMagic.size() || file.read(0, kMagic.size()) != kMagic) {
    throw Error(Code::kCorrupt, "{} is no MCAP file: it does not begin with the bytes of one", file.path());
  }
}

}  // namespace trainyard::recordings
