// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/sha256.h"

namespace trainyard::checkpoints {

/// Creates a file of `bytes` bytes that begins with `head`. Several programs can then write the rest together. Waits
/// until the file is on disk. Throws kIo if the file already exists or cannot be written.
void create_shared_file(const std::string& path, std::string_view head, std::uint64_t bytes);

/// Writes ranges of a file that create_shared_file() has created, while programs on other hosts write other ranges. All
/// errors are kIo and contain the path and the reason.
///
/// Ranges of different hosts can lie in the same page, the unit in which an NFS client caches a file. The file is
/// therefore opened with O_DSYNC, so that exactly the bytes that were written go to the server. Otherwise the client
/// may send the whole page, and so overwrite what another host has written to that page in the meantime.
class SharedFile {
 public:
  /// Opens the file. Throws if it does not exist.
  explicit SharedFile(std::string path);
  /// Closes the file. If close() was not called before, the content of the ranges is undefined.
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Writes `bytes` to the file, starting at byte `at`. Ranges that follow each other in the file should be written one
  /// after another, because they are then sent to the disk together.
  void write(std::uint64_t at, std::span<const std::byte> bytes);

  /// Closes the file; everything that this object has written is then on disk. Returns the number of bytes written, and
  /// the SHA-256 of these bytes in the order of the calls to write(). Must be called only once, after the last write().
  FileDigest close();

 private:
  void flush();

  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
  std::uint64_t staged_at_ = 0;  ///< Where the bytes in `staged_` belong in the file.
  std::vector<std::byte> staged_;
};

}  // namespace trainyard::checkpoints
