// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::recordings {

/// A new file to which whole pieces are appended. If a piece cannot be written, the file is cut back to the pieces
/// before it, so that it never ends within a record because the disk is full.
class OutputFile {
 public:
  /// Creates the file. Throws kIo if that is not possible, or if something exists at the path.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends the piece. Throws kIo with the path and the reason, such as a full disk.
  void append(std::string_view piece);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Returns the CRC32 of everything that was appended.
  std::uint32_t crc() const { return crc_; }

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0;
};

/// A file that is open for reading. Its size is determined when it is opened: a file that is still being written can be
/// read as far as it was written then.
class InputFile {
 public:
  /// Throws kNotFound if the file does not exist, and kIo if it is not a regular file or cannot be opened.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Returns `length` bytes that begin at `offset`. Throws kCorrupt if the file has not that many, and kIo if it cannot
  /// be read. The caller has bounded `length`.
  std::string read(std::uint64_t offset, std::uint64_t length) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace trainyard::recordings
