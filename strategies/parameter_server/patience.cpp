// SPDX-License-Identifier: Apache-2.0
#include "strategies/parameter_server/patience.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include "messages/error.h"

namespace trainyard::parameter_server {
namespace {

using Clock = std::chrono::steady_clock;

/// How often a waiting worker checks whether the missing workers are alive. A change of the table ends the sleep
/// earlier.
constexpr std::chrono::milliseconds kGlance{20};

/// Returns true if the process has ended, even if its parent has not reaped it yet, which kill(process, 0) cannot
/// detect.
bool is_gone(std::int32_t process) {
  if (process == Board::kLeft) return true;
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd ended{fd, POLLIN, 0};
  const bool gone = ::poll(&ended, 1, 0) == 1;
  ::close(fd);
  return gone;
}

}  // namespace

/// Marks this worker as waiting while the object exists.
class Patience::Waiting {
 public:
  Waiting(const Board& board, std::uint32_t rank) : board_(board), rank_(rank) {
    board_.worker(rank_).waits = 1;
    ++board_.common().sleepers;
  }
  ~Waiting() {
    --board_.common().sleepers;
    board_.worker(rank_).waits = 0;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  const Board& board_;
  std::uint32_t rank_;
};

/// Records when each worker last made progress, from the construction of the object on.
class Patience::Watch {
 public:
  explicit Watch(const Patience& patience) : patience_(patience), seen_(patience.board_.ranks(), {0, Clock::now()}) {
    look();
  }

  void look() {
    for (std::uint32_t rank = 0; rank < seen_.size(); ++rank) {
      const std::uint64_t progress = patience_.progress_of(rank);
      if (std::exchange(seen_[rank].progress, progress) != progress) seen_[rank].at = Clock::now();
    }
  }

  Clock::duration still_for(std::uint32_t rank) const { return Clock::now() - seen_[rank].at; }

 private:
  struct Seen {
    std::uint64_t progress;
    Clock::time_point at;
  };

  const Patience& patience_;
  std::vector<Seen> seen_;
};

/// No change is missed: a worker that changes something increments Common::events afterwards, and if this happens after
/// missing() was called, the sleep ends immediately.
void Patience::wait(const std::string& purpose, const std::function<Ranks()>& missing) const {
  if (missing().empty()) return;
  const Waiting waiting(board_, self_.rank);
  Watch watch(*this);
  auto next_glance = Clock::now() + kGlance;
  for (;;) {
    const std::uint32_t seen = board_.common().events;
    const Ranks late = missing();
    if (late.empty()) return;
    watch.look();
    if (Clock::now() > next_glance) {
      refuse_the_dead(purpose, late);
      refuse_the_still(purpose, watch, late);
      next_glance = Clock::now() + kGlance;
    }
    board_.sleep(seen, kGlance);
  }
}

/// Returns the workers to blame: the workers in `missing` that do not wait themselves. If all of them wait, they may
/// wait for the worker that has locked the table, so returns that worker. If it waits too, or no worker has locked the
/// table, returns all other workers that do not wait; if there are none, returns `missing`.
Ranks Patience::culprits(const Ranks& missing) const {
  const auto idle = [this](std::uint32_t rank) { return rank != self_.rank && board_.worker(rank).waits == 0; };
  Ranks found;
  std::ranges::copy_if(missing, std::back_inserter(found), idle);
  if (!found.empty()) return found;
  const std::uint32_t holder = board_.common().holder;
  if (holder > 0 && idle(holder - 1)) return {holder - 1};
  for (std::uint32_t rank = 0; rank < board_.ranks(); ++rank) {
    if (idle(rank)) found.push_back(rank);
  }
  return found.empty() ? missing : found;
}

/// Returns a number that changes whenever the worker makes progress.
std::uint64_t Patience::progress_of(std::uint32_t rank) const {
  const Board::Worker& one = board_.worker(rank);
  return 2 * (one.ended + one.begun + one.meetings) + one.waits + (board_.common().holder == rank + 1 ? 1 : 0);
}

void Patience::refuse_the_dead(const std::string& purpose, const Ranks& missing) const {
  Ranks suspects = culprits(missing);
  suspects.insert(suspects.end(), missing.begin(), missing.end());
  for (const std::uint32_t rank : suspects) {
    const std::int32_t process = board_.worker(rank).process;
    if (process == 0 || !is_gone(process)) continue;
    throw Error(Code::kPeerLost, "{}: rank {} waited {}; {} is gone", self_.where, self_.rank, purpose, names({rank}));
  }
}

void Patience::refuse_the_still(const std::string& purpose, const Watch& watch, const Ranks& missing) const {
  Ranks still = culprits(missing);
  std::erase_if(still, [&](std::uint32_t rank) { return watch.still_for(rank) <= self_.timeout; });
  if (still.empty()) return;
  throw Error(Code::kTimeout, "{}: rank {} waited {}; {} did not move within {} s", self_.where, self_.rank, purpose,
              names(still), static_cast<double>(self_.timeout.count()) / 1000);
}

std::string Patience::names(const Ranks& ranks) const {
  std::vector<std::string> texts;
  for (const std::uint32_t rank : ranks) {
    const std::int32_t process = board_.worker(rank).process;
    texts.push_back(process > 0 ? fmt::format("rank {} (process {})", rank, process) : fmt::format("rank {}", rank));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace trainyard::parameter_server
