// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/tcp/links.h"

namespace trainyard::tcp {

/// Logs a warning if the network is so slow that ranks obviously wait for it, because nothing else would tell the user
/// why the steps take so long. Only the speed at which this member sends to its neighbours is measured.
class SlowLinks {
 public:
  /// `links` must exist for as long as this object. `ranks` contains the rank of each member.
  SlowLinks(const Links& links, std::vector<std::uint32_t> ranks, std::shared_ptr<spdlog::logger> log);

  /// Must be called after each operation. Looks at the links if it has not done so for a second.
  void look();

 private:
  using Clock = std::chrono::steady_clock;

  /// The state of the link to a member when its speed was last judged.
  struct Judged {
    std::uint64_t bytes = 0;            ///< The number of bytes sent since the start.
    std::chrono::microseconds time{0};  ///< How long the network has limited the sending (streams::Sending).
    bool slow = false;                  ///< True if the link was judged to be slow.
  };

  void judge(std::uint32_t member);

  const Links& links_;
  const std::vector<std::uint32_t> ranks_;
  std::shared_ptr<spdlog::logger> log_;
  std::vector<Judged> judged_;  ///< Indexed by member.
  Clock::time_point next_look_;
};

}  // namespace trainyard::tcp
