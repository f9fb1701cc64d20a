// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::idx {

/// The content of an IDX file (the format of MNIST) whose elements are unsigned bytes. The first number in `shape` is
/// the number of samples. The last section of http://yann.lecun.com/exdb/mnist/ describes the format.
struct File {
  std::string path;  ///< The path of the file, for error messages.
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;  ///< All elements, in row-major order.

  std::uint64_t samples() const { return static_cast<std::uint64_t>(shape[0]); }
  /// Returns the number of bytes in one sample. There is always at least one sample, because read_file() refuses files
  /// without samples.
  std::uint64_t sample_bytes() const { return bytes.size() / samples(); }
};

/// Reads an IDX file, which can be compressed with gzip. The file must have at least `least_dimensions` dimensions. The
/// size in the header is checked against the size of the file before memory is allocated.
///
/// Throws kNotFound, kIo, kCorrupt (with the file and the offset in the uncompressed data), or kUnsupported (for
/// elements that are not unsigned bytes).
File read_file(const std::string& path, std::size_t least_dimensions);

}  // namespace trainyard::idx
