// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "streams/connection.h"

namespace trainyard::streams {

/// What Linux has measured about the bytes that a TCP connection has sent since it was made (TCP_INFO).
struct Sending {
  std::uint64_t bytes = 0;  ///< The number of bytes whose arrival the other side has acknowledged.
  /// The total time during which there were bytes to send and the other side had room for them, so that only the
  /// network limited the speed.
  std::chrono::microseconds limited_by_network{0};
  std::chrono::microseconds round_trip{0};  ///< TCP's smoothed estimate of the round-trip time.
};

/// Returns the measurements of a connection. All of them are 0 if the kernel does not provide them, as is the case
/// before Linux 4.10. Makes one system call and does not wait.
Sending sending_of(const Connection& connection);

}  // namespace trainyard::streams
