// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "streams/socket.h"

namespace trainyard::streams {

/// A TCP connection that never waits, for use with an edge-triggered epoll (EPOLLIN, EPOLLOUT, EPOLLRDHUP): what the
/// kernel reports goes to note(), and read() and write() make no system call while nothing can be moved.
class Connection {
 public:
  /// `name` says in errors whose connection it is: "stream 1 of rank 3".
  Connection(Socket socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

  int fd() const { return socket_.fd(); }
  const std::string& name() const { return name_; }
  /// Gives the connection another name.
  Connection renamed(std::string name) && {
    name_ = std::move(name);
    return std::move(*this);
  }

  /// Takes the events that epoll has reported.
  void note(std::uint32_t events);
  bool readable() const { return readable_ && !closed_; }
  bool writable() const { return writable_ && !closed_; }

  /// Receives into these places, one after the other, what has arrived. Returns the number of bytes, 0 if there are
  /// none.
  std::size_t read(std::span<iovec> places);
  /// Sends as much of these pieces as the kernel takes. Returns the number of bytes.
  std::size_t write(std::span<iovec> pieces);

  /// Returns true if the other side has closed the connection or is gone. Everything it has sent before has been read.
  bool closed() const { return closed_; }
  /// Returns true if the kernel knows that the connection ends. Bytes that have arrived before may not have been read.
  bool ending() const { return ending_ || closed_; }
  /// Returns the number of bytes that have been moved in both directions.
  std::uint64_t moved() const { return moved_; }
  /// Tells the other side that nothing more will be sent.
  void finish();

 private:
  Socket socket_;
  std::string name_;
  bool readable_ = true;
  bool writable_ = true;
  bool ending_ = false;  ///< The kernel has reported the end, which may not have been read yet.
  bool closed_ = false;
  std::uint64_t moved_ = 0;
};

/// Removes the first `bytes` bytes from a list of pieces, and returns the rest of the list.
std::span<iovec> without(std::span<iovec> pieces, std::size_t bytes);

}  // namespace trainyard::streams
