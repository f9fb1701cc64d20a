#pragma once

#include <string>

namespace trainyard {

/// A file that grows at its end. What is appended stays in memory until flush(), so that logging a step makes no system
/// call. Opened with O_APPEND: two processes that log into one file do not overwrite each other.
class AppendFile {
 public:
  /// Opens `path`, which is made with its folders if it is not there. Throws kIo.
  explicit AppendFile(std::string path);
  /// What was not flushed is lost.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// What flush() will write; append to it, whole lines or records at a time, so that a flush never tears one.
  std::string& buffer() { return buffer_; }

  /// Throws kIo with path and reason; what was not written is then given up.
  void flush();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  std::string buffer_;
};

/// Cuts a last line without a line feed off a file, which a killed run leaves behind; the next line would be glued to
/// it. Does nothing if there is no file.
void drop_torn_line(const std::string& path);

}  // namespace trainyard
