// SPDX-License-Identifier: Apache-2.0
#include "components/logger/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "messages/error.h"

namespace trainyard {

AppendFile::AppendFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;  // If this fails, open() fails, too, and the error is reported there.
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) throw Error(Code::kIo, "cannot open {} for writing: {}", path_, std::strerror(errno));
}

AppendFile::~AppendFile() { ::close(fd_); }

void AppendFile::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t count = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int reason = errno;
      // The unwritten text is discarded; otherwise it would grow until the memory is full.
      buffer_.clear();
      throw Error(Code::kIo, "cannot write to {}: {}", path_, std::strerror(reason));
    }
    done += static_cast<std::size_t>(count);
  }
  buffer_.clear();
}

void drop_torn_line(const std::string& path) {
  std::error_code missing;
  std::uintmax_t size = std::filesystem::file_size(path, missing);
  if (missing || size == 0) return;
  std::ifstream file(path, std::ios::binary);
  // If the file ends with a line feed, nothing is removed.
  char last = 0;
  // Reads single bytes from the end, because lines are short.
  for (; size > 0; --size) {
    file.seekg(static_cast<std::streamoff>(size - 1));
    if (!file.get(last) || last == '\n') break;
  }
  if (size != std::filesystem::file_size(path, missing)) std::filesystem::resize_file(path, size, missing);
}

}  // namespace trainyard
