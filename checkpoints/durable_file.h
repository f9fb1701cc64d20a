// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "checkpoints/sha256.h"

namespace trainyard::checkpoints {

/// A new file that is hashed while it is written. Its content is safely on disk when close() returns; its name is
/// safely on disk only after a call to sync_directory() for its directory. All errors are kIo and contain the path and
/// the reason.
class DurableFile {
 public:
  /// Creates the file. Throws if it already exists.
  explicit DurableFile(std::string path);
  /// Closes the file. If close() was not called before, an unknown part of the content is on disk.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  /// Appends all bytes of `bytes` or `text`. Throws if not all of them can be written.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  /// Waits until the content is on disk, and closes the file. Returns the number of bytes written and their SHA-256.
  /// Must be called only once, after the last write().
  FileDigest close();

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
};

/// A file that is open for reading. Its size is determined when it is opened. If the file shrinks afterwards, read()
/// throws for bytes that no longer exist.
class InputFile {
 public:
  /// Opens the file. Throws kNotFound if it does not exist, and kIo if it is not a regular file or cannot be opened.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  /// Fills `into` with the bytes that start at `position`. Throws kCorrupt if the file ends before `into` is full, and
  /// kIo if the file cannot be read. Several threads may read at the same time.
  void read(std::uint64_t position, std::span<std::byte> into) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// Waits until changes to the names in a directory, such as a rename, are on disk. Throws kIo if the directory cannot
/// be opened or synced.
void sync_directory(const std::string& path);

/// Throws kIo with the text "cannot <what> <path>: <description of errno>". `what` is a verb, such as "open".
[[noreturn]] void throw_errno(std::string_view what, const std::string& path);

}  // namespace trainyard::checkpoints
