// SPDX-License-Identifier: Apache-2.0
#include "recordings/resync.h"

#include <algorithm>

#include "recordings/bytes.h"
#include "recordings/limits.h"
#include "recordings/records.h"

namespace trainyard::recordings {
namespace {

/// The largest size of the part of a chunk record that precedes the compressed records. It depends on the name of the
/// compression, of which "zstd" is the longest.
constexpr std::uint64_t kHead = kRecordHead + 8 + 8 + 8 + 4 + 4 + sizeof("zstd") - 1 + 8;

/// Returns true if `bytes` begin with a chunk record. `in_file` is the number of bytes from there to the end of the
/// file.
bool is_chunk(std::string_view bytes, std::uint64_t in_file) {
  try {
    ByteReader reader(bytes, "chunk");
    if (static_cast<Opcode>(reader.number<std::uint8_t>()) != Opcode::kChunk) return false;
    const auto length = reader.number<std::uint64_t>();
    if (length > in_file - kRecordHead) return false;
    const auto start = reader.number<std::uint64_t>();
    const auto end = reader.number<std::uint64_t>();
    const auto size = reader.number<std::uint64_t>();
    reader.number<std::uint32_t>();
    const std::string_view compression = reader.text();
    const auto records = reader.number<std::uint64_t>();
    return start <= end && size <= kMostChunkBytes && (compression.empty() || compression == "zstd") &&
           length == reader.position() - kRecordHead + records;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

// Reads the file in pieces. They overlap, so that a chunk that begins near the end of a piece is recognised, too.
std::uint64_t find_chunk(const InputFile& file, std::uint64_t from) {
  constexpr std::uint64_t kPiece = 1 << 20;
  for (std::uint64_t at = from; at < file.size(); at += kPiece) {
    const std::string piece = file.read(at, std::min(kPiece + kHead, file.size() - at));
    const std::string_view view(piece);
    for (std::size_t i = 0;
         (i = view.find(static_cast<char>(Opcode::kChunk), i)) < std::min<std::size_t>(kPiece, view.size()); ++i) {
      const std::uint64_t in_file = file.size() - at - i;
      if (in_file > kHead && is_chunk(view.substr(i), in_file)) return at + i;
    }
  }
  return file.size();
}

}  // namespace trainyard::recordings
