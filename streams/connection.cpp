// SPDX-License-Identifier: Apache-2.0
#include "streams/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace trainyard::streams {
namespace {

std::size_t total(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

msghdr message(std::span<iovec> pieces) {
  msghdr header{};
  header.msg_iov = pieces.data();
  header.msg_iovlen = pieces.size();
  return header;
}

bool must_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

void Socket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void Connection::note(std::uint32_t events) {
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) ending_ = true;
  if ((events & EPOLLIN) != 0 || ending_) readable_ = true;
  if ((events & EPOLLOUT) != 0 || ending_) writable_ = true;
}

// If recvmsg() does not fill all places, no more bytes have arrived, and epoll will report later ones. If the end of
// the connection was reported, however, it may not be reported again, so reading continues until the end is reached.
std::size_t Connection::read(std::span<iovec> places) {
  if (!readable()) return 0;
  msghdr header = message(places);
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd(), &header, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    moved_ += static_cast<std::size_t>(got);
    readable_ = ending_ || static_cast<std::size_t>(got) == total(places);
    return static_cast<std::size_t>(got);
  }
  readable_ = false;
  if (got == 0 || !must_wait(errno)) closed_ = true;
  return 0;
}

std::size_t Connection::write(std::span<iovec> pieces) {
  if (!writable()) return 0;
  msghdr header = message(pieces);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(fd(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    moved_ += static_cast<std::size_t>(sent);
    return static_cast<std::size_t>(sent);
  }
  writable_ = false;
  // The connection is not marked as closed yet, because bytes that the other side sent earlier may still be unread.
  // read() finds the end after them.
  if (!must_wait(errno)) ending_ = readable_ = true;
  return 0;
}

void Connection::finish() { ::shutdown(fd(), SHUT_WR); }

std::span<iovec> without(std::span<iovec> pieces, std::size_t bytes) {
  while (!pieces.empty() && bytes >= pieces[0].iov_len) {
    bytes -= pieces[0].iov_len;
    pieces = pieces.subspan(1);
  }
  if (bytes > 0) {
    pieces[0].iov_base = static_cast<std::byte*>(pieces[0].iov_base) + bytes;
    pieces[0].iov_len -= bytes;
  }
  return pieces;
}

}  // namespace trainyard::streams
