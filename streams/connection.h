// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "streams/socket.h"

namespace trainyard::streams {

/// A TCP connection that never blocks the caller. It is designed for an edge-triggered epoll with the events EPOLLIN,
/// EPOLLOUT and EPOLLRDHUP: the caller passes each reported event to note(). read() makes no system call unless
/// readable() is true, and write() makes none unless writable() is true.
class Connection {
 public:
  /// `name` identifies the connection in errors, as in "stream 1 of rank 3".
  Connection(Socket socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

  int fd() const { return socket_.fd(); }
  const std::string& name() const { return name_; }
  /// Returns the same connection under another name.
  Connection renamed(std::string name) && {
    name_ = std::move(name);
    return std::move(*this);
  }

  /// Records events that epoll has reported for this socket.
  void note(std::uint32_t events);
  bool readable() const { return readable_ && !closed_; }
  bool writable() const { return writable_ && !closed_; }

  /// Receives bytes that have arrived, and fills the buffers in `places` one after another. Returns the number of bytes
  /// received, which is 0 if none have arrived or the connection is closed. Call this function until readable() is
  /// false, because epoll does not report the same bytes again.
  std::size_t read(std::span<iovec> places);
  /// Sends as many bytes of `pieces` as the kernel accepts without waiting, and returns their number. If the connection
  /// has been lost, returns 0, and read() finds its end.
  std::size_t write(std::span<iovec> pieces);

  /// Returns true if the other side has closed the connection or has been lost. Everything that it sent before that has
  /// then been read.
  bool closed() const { return closed_; }
  /// Returns true if the kernel has reported the end of the connection. Bytes that arrived before that may still be
  /// unread.
  bool ending() const { return ending_ || closed_; }
  /// Returns how many bytes this connection has received and sent in total.
  std::uint64_t moved() const { return moved_; }
  /// Tells the other side that no more bytes will be sent. Bytes can still be received.
  void finish();

 private:
  Socket socket_;
  std::string name_;
  bool readable_ = true;
  bool writable_ = true;
  bool ending_ = false;  ///< True if the kernel has reported the end of the connection, even if unread bytes remain.
  bool closed_ = false;
  std::uint64_t moved_ = 0;
};

/// Removes the first `bytes` bytes from a list of pieces, and returns the rest of the list. If these bytes end in the
/// middle of a piece, the piece is shortened.
std::span<iovec> without(std::span<iovec> pieces, std::size_t bytes);

}  // namespace trainyard::streams
