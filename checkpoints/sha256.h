// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trainyard::checkpoints {

/// A SHA-256 hash that is computed incrementally. OpenSSL computes it, with the processor's SHA instructions if there
/// are any.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  /// Adds the next bytes. The result does not depend on how the bytes are divided among calls.
  void add(std::span<const std::byte> bytes);

  /// Returns the hash as 64 lower-case hexadecimal digits. After this call, the object must not be used again.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The length and the hash of a file's content.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::string sha256;

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

/// Reads a whole file and returns its digest. Throws kNotFound if the file does not exist, and kIo if it is not a
/// regular file or cannot be read.
FileDigest digest_file(const std::string& path);

/// Returns the bytes as hexadecimal text, with two lower-case digits per byte.
std::string to_hex(std::span<const std::uint8_t> bytes);

/// Converts hexadecimal text with lower-case digits to bytes. Throws kCorrupt for an odd number of digits or for any
/// other character; the text of the error begins with `where`.
std::vector<std::uint8_t> from_hex(const std::string& text, const std::string& where);

}  // namespace trainyard::checkpoints
