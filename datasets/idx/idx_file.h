#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// What an IDX file holds: unsigned bytes, row-major. The first extent counts the samples. The format is described at
/// the end of http://yann.lecun.com/exdb/mnist/; extents are big-endian.
struct IdxFile {
  std::string path;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  std::uint64_t samples() const { return static_cast<std::uint64_t>(shape[0]); }
  /// Bytes of one sample; there is at least one sample, since empty files are refused.
  std::uint64_t sample_bytes() const { return bytes.size() / samples(); }
};

/// Reads an IDX file, compressed by gzip or not, of at least `least_dimensions`. Takes no more memory than the header
/// claims, and believes no claim that the size of the file cannot bear out.
///
/// Throws kNotFound, kIo, kCorrupt (file and offset in the uncompressed data), kUnsupported (other element types).
IdxFile read_idx_file(const std::string& path, std::size_t least_dimensions);

}  // namespace trainyard
