// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "checkpoints/sha256.h"

namespace trainyard::checkpoints {

/// A new file that is hashed while it is written and is safely on disk when close() returns. All errors are kIo and
/// contain the path and the reason.
class DurableFile {
 public:
  /// Creates the file. Throws if it exists already.
  explicit DurableFile(std::string path);
  /// Closes the file. If close() was not called before, the content of the file on disk is undefined.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  /// Appends all bytes, or throws.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  /// Waits until everything is on disk, and closes the file. Returns the number of bytes and their SHA-256.
  FileDigest close();

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
};

/// A file for reading. Its size is determined when it is opened; if the file shrinks afterwards, read() throws.
class InputFile {
 public:
  /// Opens the file. Throws kNotFound if it does not exist, and kIo if it is not a regular file or cannot be opened.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  /// Fills `into` with the bytes that start at `position`. Throws kCorrupt if the file ends too early.
  void read(std::uint64_t position, std::span<std::byte> into) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// Waits until the names in a directory are on disk. A rename is durable only after this.
void sync_directory(const std::string& path);

/// Throws kIo with "cannot <what> <path>: <reason of errno>".
[[noreturn]] void throw_errno(std::string_view what, const std::string& path);

}  // namespace trainyard::checkpoints
