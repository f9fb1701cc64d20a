// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace trainyard::archive {

/// The lines of a file that another program may be writing.
class FollowedFile {
 public:
  /// Opens nothing yet. Longer lines than `max_line_bytes` are skipped and counted.
  FollowedFile(std::string path, std::size_t max_line_bytes)
      : path_(std::move(path)), max_line_bytes_(max_line_bytes) {}
  ~FollowedFile();
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  /// Looks at the path. Returns true if the file there is another one than before, or has become shorter; then reading
  /// begins from its start. The first call returns true. Throws kNotFound, kInvalidArgument or kIo if there is no
  /// regular file that can be read.
  bool look();

  /// Called with a line without its line end. Reading stops when it returns false.
  using OnLine = std::function<bool(std::string_view)>;
  /// Calls `on_line` for every complete line that it has not been called for before. Throws kIo.
  void read_lines(const OnLine& on_line);

  /// Continues at most `bytes` before the end of the file, with the first line that begins there.
  void skip_to_tail(std::uint64_t bytes);

  /// Returns true if the file continues with a line that has no end yet.
  bool torn() const { return begin_ < buffer_.size(); }
  std::uint64_t skipped_lines() const { return skipped_lines_; }
  const std::string& path() const { return path_; }

 private:
  // Appends the next bytes of the file to the buffer. Returns false at the end of the file.
  bool fill();
  // Calls `on_line` for the complete lines in the buffer. Returns false if it wants no more.
  bool hand_out(const OnLine& on_line);

  std::string path_;
  std::size_t max_line_bytes_;
  int file_ = -1;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t size_ = 0;    ///< The size at the last look.
  std::uint64_t offset_ = 0;  ///< Where the next bytes are read.
  std::string buffer_;        ///< What was read; lines from `begin_` on were not handed out yet.
  std::size_t begin_ = 0;
  bool in_skipped_line_ = false;  ///< True if what comes up to the next line end is not a whole line.
  std::uint64_t skipped_lines_ = 0;
};

}  // namespace trainyard::archive
