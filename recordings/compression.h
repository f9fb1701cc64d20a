// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace trainyard::recordings {

/// Returns the CRC32 of `bytes`, with the polynomial of zlib. To compute the CRC32 of several pieces, pass the result
/// for the earlier pieces as `crc`.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc = 0);

/// Compresses chunks with zstd. An object reuses its memory for every chunk.
class Compressor {
 public:
  /// `level` is the compression level of zstd. Level 1 is the fastest.
  explicit Compressor(int level);
  ~Compressor();

  /// Returns the compressed bytes. The view is valid until the next call.
  std::string_view compress(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decompresses the records of a chunk. `compression` is "zstd", or empty if the bytes are not compressed; for any
/// other value, throws kUnsupported. `size` is the size that the file states for the result. Throws kCorrupt if the
/// bytes cannot be decompressed, if the result does not have exactly `size` bytes, or if `size` is greater than
/// kMostChunkBytes. The memory that is used is proportional to the actual size of the result, even if `size` is wrong.
std::string decompress(std::string_view compression, std::string_view bytes, std::uint64_t size);

}  // namespace trainyard::recordings
