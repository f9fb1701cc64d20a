// SPDX-License-Identifier: Apache-2.0
#include "streams/network.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <vector>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"

namespace trainyard::streams {
namespace {

/// The backlog of listen(): how many connections may wait to be accepted.
constexpr int kWaiting = 1024;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// Reads a numeric address and a port. Returns false for anything else; host names are never looked up.
bool read_address(const std::string& host, const std::string& port, Address& address) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return false;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return true;
}

std::string text_of(const sockaddr* address, socklen_t size, bool with_port) {
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  if (::getnameinfo(address, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  if (!with_port) return host;
  return address->sa_family == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

struct Interface {
  std::string name;
  std::string address;
  bool is_loopback = false;
  bool is_v4 = false;
};

bool is_link_local(const ifaddrs& entry) {
  return entry.ifa_addr->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr) != 0;
}

/// Returns the addresses of all interfaces that are up, the IPv4 addresses first.
std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw Error(Code::kIo, "cannot list the network interfaces: {}", std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> guard(list, &::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const bool is_v4 = entry->ifa_addr->sa_family == AF_INET;
    if ((!is_v4 && entry->ifa_addr->sa_family != AF_INET6) || is_link_local(*entry)) continue;
    const socklen_t size = is_v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    found.push_back(
        {entry->ifa_name, text_of(entry->ifa_addr, size, false), (entry->ifa_flags & IFF_LOOPBACK) != 0, is_v4});
  }
  std::ranges::stable_partition(found, &Interface::is_v4);
  return found;
}

Socket make_socket(const Address& address) {
  Socket socket(::socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.empty()) throw Error(Code::kIo, "cannot make a TCP socket: {}", std::strerror(errno));
  return socket;
}

/// Makes the socket listen at the address. Returns 0, or the value of errno if this fails.
int listen_at(const Socket& socket, const Address& address) {
  const int one = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (::bind(socket.fd(), address.get(), address.size) != 0 || ::listen(socket.fd(), kWaiting) != 0) return errno;
  return 0;
}

std::string text_of(const Ports& ports) {
  if (ports.first == 0) return "any port";
  return ports.first == ports.last ? fmt::format("port {}", ports.first)
                                   : fmt::format("ports {} to {}", ports.first, ports.last);
}

}  // namespace

Ports read_ports(const std::string& text) {
  if (text == "any") return {};
  Ports ports;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, ports.first);
  ports.last = ports.first;
  if (error == std::errc() && at != end && *at == '-') {
    const auto second = std::from_chars(at + 1, end, ports.last);
    at = second.ptr;
    error = second.ec;
  }
  if (error == std::errc() && at == end && ports.first > 0 && ports.first <= ports.last) return ports;
  throw Error(Code::kInvalidArgument,
              "'{}' is no range of ports; allowed are \"any\", a port such as \"20000\", and two "
              "ports from 1 to 65535 such as \"20000-20100\"",
              printable_line(text));
}

std::string address_of_interface(const std::string& name) {
  std::vector<std::string> names;
  for (const Interface& one : interfaces()) {
    if (one.name == name || one.address == name) return one.address;
    if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  }
  throw Error(Code::kInvalidArgument, "no network interface '{}' that is up and has an address{}", printable_line(name),
              suggestion(name, names));
}

std::string address_of_any_interface() {
  for (const Interface& one : interfaces()) {
    if (!one.is_loopback) return one.address;
  }
  throw Error(Code::kNotFound, "this machine has no network interface that is up and has an address, except {}",
              "the loopback interface");
}

Listener::Listener(const std::string& address, const Ports& ports) {
  int error = EADDRNOTAVAIL;
  for (std::uint32_t port = ports.first; port <= ports.last; ++port) {
    Address at;
    if (!read_address(address, std::to_string(port), at)) break;
    Socket socket = make_socket(at);
    error = listen_at(socket, at);
    if (error == 0) {
      ::getsockname(socket.fd(), at.get(), &at.size);
      endpoint_ = text_of(at.get(), at.size, true);
      socket_ = std::move(socket);
      return;
    }
    if (error != EADDRINUSE) break;
  }
  throw Error(Code::kIo, "cannot accept connections at {}, {}: {}", printable_line(address), text_of(ports),
              std::strerror(error));
}

Socket Listener::accept(std::string& from) {
  Address address;
  address.size = sizeof address.storage;
  Socket socket(::accept4(socket_.fd(), address.get(), &address.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.empty()) from = text_of(address.get(), address.size, true);
  return socket;
}

Socket connect_to(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  std::string host = endpoint.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  Address address;
  if (colon == std::string::npos || !read_address(host, endpoint.substr(colon + 1), address)) {
    throw Error(Code::kCorrupt, "'{}' is no address with a port", printable_line(endpoint));
  }
  Socket socket = make_socket(address);
  if (::connect(socket.fd(), address.get(), address.size) != 0 && errno != EINPROGRESS) socket.close();
  return socket;
}

std::string address_of_other(const Connection& connection) {
  Address address;
  address.size = sizeof address.storage;
  if (::getpeername(connection.fd(), address.get(), &address.size) != 0) return "an unknown address";
  return text_of(address.get(), address.size, false);
}

void prepare(const Socket& socket) {
  const int one = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

}  // namespace trainyard::streams
