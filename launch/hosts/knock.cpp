// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/knock.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launch/hosts/addresses.h"

namespace trainyard::launch {
namespace {

int begin_to_connect(int socket, const SocketAddress& to) {
  if (socket < 0) return errno;
  return ::connect(socket, to.get(), to.size) == 0 ? 0 : errno;
}

}  // namespace

Knock::Knock(const std::string& address, const std::vector<std::uint16_t>& ports) {
  for (const std::uint16_t port : ports) {
    Attempt& attempt = attempts_.emplace_back();
    attempt.port = port;
    const SocketAddress to = socket_address(address, port);
    attempt.socket.reset(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    attempt.error = begin_to_connect(attempt.socket.get(), to);
  }
}

void Knock::look() {
  for (Attempt& attempt : attempts_) {
    if (attempt.error == EINPROGRESS) {
      pollfd ready{.fd = attempt.socket.get(), .events = POLLOUT, .revents = 0};
      socklen_t size = sizeof attempt.error;
      if (::poll(&ready, 1, 0) <= 0) continue;
      ::getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &attempt.error, &size);
    }
    attempt.socket.reset();  // The result is known, so the connection is closed.
  }
}

std::string Knock::ports_text() const {
  if (attempts_.size() == 1) return fmt::format("port {}", attempts_.front().port);
  return fmt::format("the ports {} to {}", attempts_.front().port, attempts_.back().port);
}

std::string Knock::finding(const std::string& key) {
  look();
  const auto first = [this](auto fits) { return std::ranges::find_if(attempts_, fits, &Attempt::error); };
  if (const auto open = first([](int error) { return error == 0; }); open != attempts_.end()) {
    return fmt::format(
        "accepts connections at port {}, but nobody there knows the key of this host ({}): give all hosts the same "
        "key, and check that no other program has this port",
        open->port, key);
  }
  const auto failed = first([](int error) { return error != ECONNREFUSED && error != EINPROGRESS; });
  if (failed != attempts_.end()) {
    return fmt::format("cannot be reached: {}; check the address and the network", std::strerror(failed->error));
  }
  if (first([](int error) { return error == EINPROGRESS; }) == attempts_.end()) {
    return fmt::format(
        "refuses connections at {}: host 0 does not listen there, or not yet, or a firewall refuses them",
        ports_text());
  }
  return fmt::format("does not answer at {}: the address is wrong, or a firewall drops the packets", ports_text());
}

}  // namespace trainyard::launch
