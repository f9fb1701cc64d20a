// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard {

/// A file to which text is appended. The text stays in memory until flush(), so that logging a step makes no system
/// call. The file is opened with O_APPEND, so two processes that write to the same file do not overwrite each other's
/// text.
class AppendFile {
 public:
  /// Opens `path`. If the file does not exist, creates it and the folders on its path. Throws kIo if this fails.
  explicit AppendFile(std::string path);
  /// Closes the file. Text that was not flushed is lost.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Returns the buffer that flush() writes. Append only complete lines or records to it.
  std::string& buffer() { return buffer_; }

  /// Writes the buffer to the file and empties it. Throws kIo with the path and the reason; the unwritten text is then
  /// discarded.
  void flush();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  std::string buffer_;
};

/// Removes an incomplete last line from the file `path`. A run that is killed can leave such a line, and the next line
/// would otherwise be appended to it. Does nothing if the file does not exist.
void drop_torn_line(const std::string& path);

}  // namespace trainyard
