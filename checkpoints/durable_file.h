#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "checkpoints/sha256.h"

namespace trainyard::checkpoints {

/// A new file that is hashed while it is written and is on the disk when close() returns. All errors are kIo, with the
/// path and the system's reason.
class DurableFile {
 public:
  /// Throws if the file exists.
  explicit DurableFile(std::string path);
  /// Without close(), nothing is promised about the file.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  /// Appends all of it, or throws.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  /// Waits until everything is on the disk. Returns how much it was and its SHA-256.
  FileDigest close();

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
};

/// A file to read from. Its size is taken once. A file that shrinks meanwhile is an error, never a short read.
class InputFile {
 public:
  /// Throws kNotFound, or kIo if it is not a regular file or cannot be opened.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  /// Fills `into`, beginning at `position`. Throws kCorrupt if the file ends before that.
  void read(std::uint64_t position, std::span<std::byte> into) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// Waits until the names in a directory are on the disk; only then is a rename durable.
void sync_directory(const std::string& path);

/// Throws kIo with "cannot <what> <path>: <reason of errno>".
[[noreturn]] void throw_errno(std::string_view what, const std::string& path);

}  // namespace trainyard::checkpoints
