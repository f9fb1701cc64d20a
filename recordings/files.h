// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::recordings {

/// A new file to which data is appended piece by piece. If a piece cannot be written completely, for instance because
/// the disk is full, the part that was written is removed again, so that the file ends with the previous piece.
class OutputFile {
 public:
  /// Creates the file. Throws kNotFound if its folder does not exist, and kIo if the file cannot be created for another
  /// reason, for instance because something already exists at the path.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends the piece. Throws kIo, with the path and the reason, if the piece cannot be written.
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

/// A file that is open for reading. Its size is determined when it is opened, so data that is appended later is
/// ignored.
class InputFile {
 public:
  /// Throws kNotFound if the file does not exist, and kIo if it is not a regular file or cannot be opened.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Returns `length` bytes that begin at `offset`. Throws kCorrupt if the file does not have that many bytes there,
  /// and kIo if it cannot be read. Allocates memory for `length` bytes, so the caller must first check that `length` is
  /// not too large.
  std::string read(std::uint64_t offset, std::uint64_t length) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace trainyard::recordings
