// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::core {

/// A new folder for Unix sockets, which only this user can enter. It is made in the folder for temporary files (TMPDIR)
/// or, if TMPDIR is not set or its path is too long for the address of a Unix socket, in /tmp. The destructor removes
/// the new folder with its contents.
class SocketFolder {
 public:
  /// `where` is the prefix of error messages. Throws kIo if the folder cannot be made.
  explicit SocketFolder(const std::string& where);
  ~SocketFolder();
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace trainyard::core
