// SPDX-License-Identifier: Apache-2.0
#include "streams/sending.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace trainyard::streams {

// The headers of the C library describe only the oldest part of tcp_info, so those of the kernel are used. An older
// kernel fills in a shorter part.
Sending sending_of(const Connection& connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(connection.fd(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < offsetof(tcp_info, tcpi_rwnd_limited) + sizeof info.tcpi_rwnd_limited) {
    return {};
  }
  return {.bytes = info.tcpi_bytes_acked,
          .limited_by_network = std::chrono::microseconds(info.tcpi_busy_time - info.tcpi_rwnd_limited),
          .round_trip = std::chrono::microseconds(info.tcpi_rtt)};
}

}  // namespace trainyard::streams
