// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace trainyard::recordings {

/// Returns the CRC32 (the polynomial of zlib) of `bytes`, or continues `crc`, that of the bytes before.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc = 0);

/// Compresses chunks with zstd. Its memory is reused from chunk to chunk.
class Compressor {
 public:
  /// `level` is the level of zstd: 1 is fastest.
  explicit Compressor(int level);
  ~Compressor();

  /// Returns the compressed bytes. The view is valid until the next call.
  std::string_view compress(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decompresses the records of a chunk. `compression` is "zstd" or empty, which means that the bytes are not
/// compressed. Throws kUnsupported for any other compression. Throws kCorrupt if the result is not exactly `size`
/// bytes, or `size` is more than kMostChunkBytes. Its memory is proportional to the actual result, whatever `size`
/// claims.
std::string decompress(std::string_view compression, std::string_view bytes, std::uint64_t size);

}  // namespace trainyard::recordings
