#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trainyard::checkpoints {

/// SHA-256 of bytes that come in pieces; OpenSSL's, which uses the processor's own instructions.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  /// Order matters; how the bytes are cut into pieces does not.
  void add(std::span<const std::byte> bytes);

  /// 64 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How long a file is and what is in it.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::string sha256;

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

/// Reads a whole file. Throws kIo, kNotFound.
FileDigest digest_file(const std::string& path);

/// Two lower-case digits a byte.
std::string to_hex(std::span<const std::uint8_t> bytes);

/// Throws kCorrupt, with `where`, for an odd number of digits or another character.
std::vector<std::uint8_t> from_hex(const std::string& text, const std::string& where);

}  // namespace trainyard::checkpoints
