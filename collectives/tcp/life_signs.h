// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "collectives/agreement.h"
#include "collectives/tcp/frame.h"
#include "collectives/tcp/links.h"

namespace trainyard::tcp {

/// Returns the frame with which a member answers a ping.
FrameHead pong_for(std::uint64_t ping, const collectives::Answer& answer);

/// The knowledge about one other member: whether it is still there, and whether its caller waits.
class LifeSigns {
 public:
  explicit LifeSigns(const Link& link) : link_(link) {}

  /// Reads the signs of life from a frame. Must be called for each frame. `members` is the number of members of the
  /// group.
  void hear(const FrameHead& head, std::uint32_t members);

  collectives::Presence presence();
  /// Returns a number that changes whenever the member sends or receives anything except signs of life.
  std::uint64_t signs() const;
  std::optional<collectives::Answer> answer_to(std::uint64_t ping) const;
  /// Returns true if the member has received everything that was sent before `ping`, or will not receive it any more.
  bool has_heard(std::uint64_t ping) const;

 private:
  const Link& link_;
  std::uint64_t frames_ = 0;
  std::uint64_t pong_ = 0;
  collectives::Answer answer_;
  bool left_ = false;
  std::optional<std::chrono::steady_clock::time_point> data_broken_since_;
};

}  // namespace trainyard::tcp
