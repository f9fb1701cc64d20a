// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>

#include "core/loop/wakeup.h"
#include "messages/buffer.h"

namespace trainyard::core {

/// The data with which another process of this host can wake an event loop of the process that sends this message. A
/// subscriber sends it in a RingOffer. A publisher that accepts a ring sends its own WakeOffer as an additional
/// frame of the message Subscribed.
struct WakeOffer {
  static constexpr const char* kTypeName = "WakeOffer";

  std::int32_t pid = 0;
  std::int32_t state_fd = -1;
  std::uint64_t state_inode = 0;
  std::uint64_t state_bytes = 0;
  std::int32_t pipe = -1;

  /// Converts a WakeupHandle to a message. The function handle() converts the message back.
  static WakeOffer of(const WakeupHandle& handle) {
    return {handle.state.pid, handle.state.fd, handle.state.inode, handle.state.segment_bytes, handle.pipe};
  }
  WakeupHandle handle() const {
    return {{.pid = pid, .fd = state_fd, .inode = state_inode, .segment_bytes = state_bytes, .bytes = state_bytes},
            pipe};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(pid), CEREAL_NVP(state_fd), CEREAL_NVP(state_inode), CEREAL_NVP(state_bytes), CEREAL_NVP(pipe));
  }
};

/// An additional frame of the message Subscribe, which tells the publisher the pid of the subscribing process. If the
/// two processes can share memory, it also offers a ring that the subscribing process has made for the messages. A
/// publisher that does not support rings ignores the offer and sends over the socket.
struct RingOffer {
  static constexpr const char* kTypeName = "RingOffer";

  std::int32_t ring_fd = -1;  ///< The descriptor of the ring in the subscriber's process; -1 if no ring is offered.
  std::uint64_t ring_inode = 0;
  std::uint64_t ring_bytes = 0;
  /// The data with which the publisher can wake the subscriber's loop. Its `pid` is the pid of the subscribing process,
  /// even if no ring is offered.
  WakeOffer wake;

  /// Returns the message that the process `pid` sends if it offers no ring.
  static RingOffer without_ring(std::int32_t pid) { return {.wake = {.pid = pid}}; }
  bool has_ring() const { return ring_fd >= 0; }

  /// Returns the handle with which the publisher opens the ring (SharedRing::open).
  SharedHandle handle() const {
    return {.pid = wake.pid, .fd = ring_fd, .inode = ring_inode, .segment_bytes = ring_bytes, .bytes = ring_bytes};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(ring_fd), CEREAL_NVP(ring_inode), CEREAL_NVP(ring_bytes), CEREAL_NVP(wake));
  }
};

}  // namespace trainyard::core
