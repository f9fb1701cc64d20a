// SPDX-License-Identifier: Apache-2.0
#include "web/testing/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace trainyard::web::testing {
namespace {

constexpr int kPatienceMs = 10'000;

}  // namespace

RawClient::RawClient(std::uint16_t port, int receive_buffer) : port_(port), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    socket_ = -1;
  }
}

RawClient::~RawClient() {
  if (socket_ >= 0) ::close(socket_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd wait{socket_, POLLOUT, 0};
    if (::poll(&wait, 1, 1000) <= 0) return false;
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string RawClient::receive(std::size_t most) {
  pollfd wait{socket_, POLLIN, 0};
  if (::poll(&wait, 1, kPatienceMs) <= 0) return {};
  std::string bytes(most, '\0');
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(socket_, bytes.data(), bytes.size(), 0))));
  return bytes;
}

bool RawClient::closed_by_server(std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  char bytes[4096];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left.count())) <= 0) return false;
    if (::recv(socket_, bytes, sizeof bytes, 0) <= 0) return true;
  }
}

bool RawClient::fill(std::size_t bytes) {
  while (unread_.size() < bytes) {
    const std::string more = receive();
    if (more.empty()) return false;
    unread_ += more;
  }
  return true;
}

std::string RawClient::take_until(std::string_view end) {
  std::size_t found;
  while ((found = unread_.find(end)) == std::string::npos) {
    if (!fill(unread_.size() + 1)) return {};
  }
  std::string taken = unread_.substr(0, found + end.size());
  unread_.erase(0, taken.size());
  return taken;
}

std::string RawClient::get(const std::string& target, const std::string& more_fields, const std::string& host) {
  const std::string name = host.empty() ? fmt::format("127.0.0.1:{}", port_) : host;
  send(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", target, name, more_fields));
  const std::string head = take_until("\r\n\r\n");
  const std::size_t length = head.find("Content-Length: ");
  if (length == std::string::npos) return head;
  const std::size_t bytes = std::strtoul(head.c_str() + length + 16, nullptr, 10);
  fill(bytes);
  const std::string body = unread_.substr(0, bytes);
  unread_.erase(0, bytes);
  return head + body;
}

std::string RawClient::upgrade(const std::string& target, const std::string& more_fields, const std::string& host) {
  const std::string name = host.empty() ? fmt::format("127.0.0.1:{}", port_) : host;
  send(
      fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{}\r\n",
                  target, name, more_fields));
  return take_until("\r\n\r\n");
}

bool RawClient::send_frame(std::string_view payload, int opcode) {
  std::string frame(1, static_cast<char>(0x80 | opcode));
  const auto put = [&](std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) frame += static_cast<char>(value >> (8 * i));
  };
  if (payload.size() < 126) {
    put(0x80 | payload.size(), 1);
  } else if (payload.size() < 65536) {
    put(0x80 | 126, 1);
    put(payload.size(), 2);
  } else {
    put(0x80 | 127, 1);
    put(payload.size(), 8);
  }
  const char mask[4] = {0x11, 0x22, 0x33, 0x44};
  frame.append(mask, 4);
  for (std::size_t i = 0; i < payload.size(); ++i) frame += static_cast<char>(payload[i] ^ mask[i % 4]);
  return send(frame);
}

std::optional<Frame> RawClient::receive_frame(bool pong) {
  for (;;) {
    if (!fill(2)) return {};
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(unread_[i]); };
    std::size_t head = 2, size = byte(1) & 0x7f;
    const std::size_t extra = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (!fill(head + extra)) return {};
    if (extra > 0) size = 0;
    for (std::size_t i = 0; i < extra; ++i) size = size << 8 | byte(head + i);
    head += extra;
    if (!fill(head + size)) return {};
    Frame frame{byte(0) & 15, unread_.substr(head, size)};
    unread_.erase(0, head + size);
    if (frame.opcode != 9 || !pong) return frame;
    send_frame(frame.payload, 10);
  }
}

}  // namespace trainyard::web::testing
