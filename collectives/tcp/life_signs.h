// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "collectives/agreement.h"
#include "collectives/tcp/frame.h"
#include "collectives/tcp/links.h"

namespace trainyard::tcp {

/// Returns a pong frame for ping number `ping`. The frame carries `answer`.
FrameHead pong_for(std::uint64_t ping, const collectives::Answer& answer);

/// What one member of a group knows about another: whether the other member is still there, and whether the thread that
/// uses its collective waits for an operation.
class LifeSigns {
 public:
  explicit LifeSigns(const Link& link) : link_(link) {}

  /// Must be called for each frame from the other member. `members` is the number of members of the group.
  void hear(const FrameHead& head, std::uint32_t members);

  collectives::Presence presence();
  /// Returns a number that changes whenever the other member sends or receives anything except pings and their answers.
  std::uint64_t signs() const;
  /// Returns the other member's answer if it has answered the most recent ping, whose number is `ping`; otherwise
  /// nothing.
  std::optional<collectives::Answer> answer_to(std::uint64_t ping) const;
  /// Returns true if the other member has received everything that was sent before the most recent ping, whose number
  /// is `ping`, or is gone and will never receive it.
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
