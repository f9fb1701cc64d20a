// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace trainyard::archive {

/// Reads the lines of a file to which another program may still be writing.
class FollowedFile {
 public:
  /// Does not open the file; look() does. Lines longer than `max_line_bytes` are skipped and counted.
  FollowedFile(std::string path, std::size_t max_line_bytes)
      : path_(std::move(path)), max_line_bytes_(max_line_bytes) {}
  ~FollowedFile();
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  /// Must be called before each read_lines(). Opens the file at the first call, and opens it again if it was replaced
  /// or has become shorter. Returns true if it has opened the file, so that reading starts from the beginning. Throws
  /// kNotFound if there is no file, kInvalidArgument if it is not a regular file, and kIo if it cannot be read.
  bool look();

  /// Receives a line, without its line end. If the function returns false, read_lines() stops after this line.
  using OnLine = std::function<bool(std::string_view)>;
  /// Calls `on_line` for every complete line that has not been read yet. Throws kIo if the file cannot be read.
  void read_lines(const OnLine& on_line);

  /// Skips lines, so that reading continues with the first line that begins within the last `bytes` bytes of the file.
  /// Lines that were read already are not read again. Call this function after look() and before read_lines().
  void skip_to_tail(std::uint64_t bytes);

  /// Returns true if the file, as far as it has been read, ends with an incomplete line, for example because the other
  /// program is still writing it. Such a line is not passed to `on_line` until it is complete.
  bool torn() const { return begin_ < buffer_.size(); }
  std::uint64_t skipped_lines() const { return skipped_lines_; }
  const std::string& path() const { return path_; }

 private:
  // Appends the next bytes of the file to the buffer. Returns false at the end of the file.
  bool fill();
  // Calls `on_line` for the complete lines in the buffer. Returns false if `on_line` has returned false.
  bool hand_out(const OnLine& on_line);

  std::string path_;
  std::size_t max_line_bytes_;
  int file_ = -1;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t size_ = 0;    ///< The size at the last call to look().
  std::uint64_t offset_ = 0;  ///< The position from which the next bytes are read.
  std::string buffer_;        ///< The bytes that were read. Those from `begin_` on have not been passed on yet.
  std::size_t begin_ = 0;
  bool in_skipped_line_ = false;  ///< True if the bytes up to the next line end belong to a line that is being skipped.
  std::uint64_t skipped_lines_ = 0;
};

}  // namespace trainyard::archive
