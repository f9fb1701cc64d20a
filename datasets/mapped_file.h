// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "messages/error.h"

namespace trainyard {

/// A file that is mapped into memory for reading. Nothing is read when the file is opened. The operating system loads a
/// page from the disk when it is first accessed, and all processes that map the file share its pages. A dataset can
/// therefore be far larger than memory.
///
/// The file must not be truncated while it is mapped, because a process that reads beyond the new end is killed by
/// SIGBUS.
class MappedFile {
 public:
  /// Maps the file. Throws kNotFound if there is no regular file at `path`, and kIo if it cannot be opened or mapped.
  explicit MappedFile(std::string path) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // A pipe would block the open.
    if (descriptor < 0) {
      if (errno == ENOENT || errno == ENOTDIR) throw Error(Code::kNotFound, "there is no file {}", path_);
      throw Error(Code::kIo, "cannot open {}: {}", path_, std::strerror(errno));
    }
    try {
      map(descriptor);
    } catch (...) {
      ::close(descriptor);
      throw;
    }
    ::close(descriptor);  // The mapping keeps the file open.
  }
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  MappedFile(MappedFile&& other) noexcept
      : path_(std::move(other.path_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;

  const std::string& path() const { return path_; }
  std::size_t size() const { return size_; }

  /// Returns the bytes of the whole file. They begin at a page boundary. The span is empty if the file is empty.
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  void map(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) throw Error(Code::kIo, "cannot look at {}: {}", path_, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) throw Error(Code::kNotFound, "{} is not a regular file", path_);
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;  // An empty file cannot be mapped.
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) throw Error(Code::kIo, "cannot map {} ({} bytes): {}", path_, size_, std::strerror(errno));
    data_ = data;
  }

  std::string path_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace trainyard
