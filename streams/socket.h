// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace trainyard::streams {

/// Owns a file descriptor. The destructor closes it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int fd() const { return fd_; }
  bool empty() const { return fd_ < 0; }
  void close();

 private:
  int fd_ = -1;
};

}  // namespace trainyard::streams
