// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::idx {

/// The content of an IDX file: unsigned bytes, row by row. The first extent is the number of samples. The last section
/// of http://yann.lecun.com/exdb/mnist/ describes the format; extents are big-endian.
struct File {
  std::string path;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  std::uint64_t samples() const { return static_cast<std::uint64_t>(shape[0]); }
  /// Returns the bytes of one sample. There is at least one sample, because empty files are refused.
  std::uint64_t sample_bytes() const { return bytes.size() / samples(); }
};

/// Reads an IDX file with at least `least_dimensions` dimensions, compressed by gzip or not. It allocates no more
/// memory than the header claims, and refuses a claim that is larger than the file can hold.
///
/// Throws kNotFound, kIo, kCorrupt (with the file and the offset in the uncompressed data) and kUnsupported (for other
/// element types).
File read_file(const std::string& path, std::size_t least_dimensions);

}  // namespace trainyard::idx
