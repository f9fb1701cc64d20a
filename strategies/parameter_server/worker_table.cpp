#include "strategies/parameter_server/worker_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <utility>

#include "messages/error.h"

namespace trainyard::parameter_server {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two looks at those who are waited for; a change wakes at once.
constexpr std::chrono::milliseconds kGlance{20};

constexpr std::int32_t kLeft = -1;  ///< In the place of a process: the worker is there no more.

/// Also of one that has ended and is not reaped yet, which signals cannot tell.
bool is_gone(std::int32_t process) {
  if (process == kLeft) return true;
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd ended{fd, POLLIN, 0};
  const bool gone = ::poll(&ended, 1, 0) == 1;
  ::close(fd);
  return gone;
}

}  // namespace

/// A cache line of its own each: only the worker itself writes there.
struct alignas(64) WorkerTable::Worker {
  std::atomic<std::uint64_t> ended;  ///< Steps.
  std::atomic<std::uint64_t> begun;  ///< Steps before the one that is under way; `ended`, or one less.
  std::atomic<std::uint64_t> meetings;
  std::atomic<std::int32_t> process;  ///< 0: has not come yet.
  std::atomic<std::uint32_t> waits;   ///< 1: for others.
};

struct alignas(64) WorkerTable::Shared {
  std::atomic<std::uint32_t> events;    ///< The futex: changes with everything that somebody may wait for.
  std::atomic<std::uint32_t> sleepers;  ///< A killed one stays counted, which costs system calls only.
  std::atomic<std::uint32_t> holder;    ///< Whose turn it is: rank + 1; 0: nobody's.
  std::atomic<std::uint64_t> updates;
  std::atomic<std::uint64_t> spread;
};

/// While it lives, this worker waits.
class WorkerTable::Waiting {
 public:
  explicit Waiting(WorkerTable& table) : table_(table) {
    table_.own().waits = 1;
    ++table_.shared().sleepers;
  }
  ~Waiting() {
    --table_.shared().sleepers;
    table_.own().waits = 0;
  }

 private:
  WorkerTable& table_;
};

/// Who has moved when, since it was made.
class WorkerTable::Watch {
 public:
  explicit Watch(const WorkerTable& table) : table_(table), seen_(table.self_.ranks, {0, Clock::now()}) { look(); }

  void look() {
    for (std::uint32_t rank = 0; rank < seen_.size(); ++rank) {
      const std::uint64_t progress = table_.progress_of(rank);
      if (std::exchange(seen_[rank].progress, progress) != progress) seen_[rank].at = Clock::now();
    }
  }

  Clock::duration still_for(std::uint32_t rank) const { return Clock::now() - seen_[rank].at; }

 private:
  struct Seen {
    std::uint64_t progress;
    Clock::time_point at;
  };

  const WorkerTable& table_;
  std::vector<Seen> seen_;
};

std::size_t WorkerTable::bytes(std::uint32_t ranks) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
  return sizeof(Shared) + ranks * sizeof(Worker);
}

WorkerTable::WorkerTable(Buffer memory, Member self) : memory_(std::move(memory)), self_(std::move(self)) {
  own().process = ::getpid();
}

WorkerTable::~WorkerTable() {
  if (is_locked()) unlock();
  own().process = kLeft;
  changed();
}

WorkerTable::Shared& WorkerTable::shared() const { return *reinterpret_cast<Shared*>(memory_.data()); }

WorkerTable::Worker& WorkerTable::worker(std::uint32_t rank) const {
  return reinterpret_cast<Worker*>(memory_.data() + sizeof(Shared))[rank];
}

void WorkerTable::lock() {
  wait("for its turn at the server", [this]() -> Ranks {
    std::uint32_t holder = 0;
    if (shared().holder.compare_exchange_strong(holder, self_.rank + 1)) return {};
    return {holder - 1};
  });
}

void WorkerTable::unlock() {
  shared().holder = 0;
  changed();
}

bool WorkerTable::is_locked() const { return shared().holder == self_.rank + 1; }

std::uint64_t WorkerTable::count_update() { return ++shared().updates; }
std::uint64_t WorkerTable::updates() const { return shared().updates; }
std::uint64_t WorkerTable::ended() const { return own().ended; }
std::uint64_t WorkerTable::widest_spread() const { return shared().spread; }

void WorkerTable::end_step() {
  ++own().ended;
  changed();
}

void WorkerTable::begin_step() {
  std::uint64_t slowest = own().ended;
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (!is_away(rank)) slowest = std::min<std::uint64_t>(slowest, worker(rank).ended);
  }
  const std::uint64_t spread = own().ended - slowest;
  std::uint64_t widest = shared().spread;
  while (widest < spread && !shared().spread.compare_exchange_weak(widest, spread)) {
  }
  own().begun = own().ended.load();
  changed();
}

/// Has come to a meeting that this worker is still on the way to.
bool WorkerTable::is_away(std::uint32_t rank) const { return worker(rank).meetings > own().meetings; }

WorkerTable::Ranks WorkerTable::behind(std::uint64_t ended) const {
  Ranks late;
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (worker(rank).ended < ended && !is_away(rank)) late.push_back(rank);
  }
  return late;
}

bool WorkerTable::is_near(std::uint64_t steps) const {
  return own().ended <= steps || behind(own().ended - steps).empty();
}

void WorkerTable::wait_until_near(std::uint64_t steps) {
  wait(fmt::format("for workers more than {} steps behind", steps),
       [this, steps] { return own().ended <= steps ? Ranks{} : behind(own().ended - steps); });
}

void WorkerTable::wait_until_begun(std::uint64_t steps) {
  wait(fmt::format("for workers more than {} steps behind", steps), [this, steps] {
    Ranks late;
    for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
      if (worker(rank).begun + steps < own().begun && !is_away(rank)) late.push_back(rank);
    }
    return late;
  });
}

void WorkerTable::wait_for_step_of(std::uint32_t rank) {
  wait("for the update of this step",
       [this, rank] { return worker(rank).ended > own().ended ? Ranks{} : Ranks{rank}; });
}

void WorkerTable::meet() {
  const std::uint64_t meeting = ++own().meetings;
  changed();
  wait("for all workers to meet", [this, meeting] {
    Ranks late;
    for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
      if (worker(rank).meetings < meeting) late.push_back(rank);
    }
    return late;
  });
}

void WorkerTable::level() {
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    own().ended = std::max<std::uint64_t>(own().ended, worker(rank).ended);
  }
  own().begun = own().ended.load();
}

std::vector<std::uint32_t> WorkerTable::waiting() const {
  Ranks ranks;
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (worker(rank).waits != 0) ranks.push_back(rank);
  }
  return ranks;
}

void WorkerTable::changed() {
  ++shared().events;
  if (shared().sleepers > 0) {
    ::syscall(SYS_futex, &shared().events, FUTEX_WAKE, self_.ranks, nullptr, nullptr, 0);
  }
}

/// Whoever changes something counts an event after it, and an event that comes after the look at what is missing lets
/// nobody sleep: no change is overslept.
void WorkerTable::wait(const std::string& purpose, const std::function<Ranks()>& missing) {
  if (missing().empty()) return;
  const Waiting waiting(*this);
  Watch watch(*this);
  auto next_glance = Clock::now() + kGlance;
  for (;;) {
    const std::uint32_t seen = shared().events;
    const Ranks late = missing();
    if (late.empty()) return;
    watch.look();
    if (Clock::now() > next_glance) {
      refuse_the_dead(purpose, late);
      refuse_the_still(purpose, watch, late);
      next_glance = Clock::now() + kGlance;
    }
    sleep(seen);
  }
}

/// Until the next event, or for a short while. Not a private futex: it is shared between processes.
void WorkerTable::sleep(std::uint32_t seen) const {
  const timespec span{0, std::chrono::nanoseconds(kGlance).count()};
  ::syscall(SYS_futex, &shared().events, FUTEX_WAIT, seen, &span, nullptr, 0);
}

/// Those who are missing but do not wait themselves; else whose turn it is, whom they may wait for; else all who do not
/// wait.
WorkerTable::Ranks WorkerTable::culprits(const Ranks& missing) const {
  const auto idle = [this](std::uint32_t rank) { return rank != self_.rank && worker(rank).waits == 0; };
  Ranks found;
  std::ranges::copy_if(missing, std::back_inserter(found), idle);
  if (!found.empty()) return found;
  const std::uint32_t holder = shared().holder;
  if (holder > 0 && idle(holder - 1)) return {holder - 1};
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (idle(rank)) found.push_back(rank);
  }
  return found.empty() ? missing : found;
}

/// Differs when the worker has moved.
std::uint64_t WorkerTable::progress_of(std::uint32_t rank) const {
  const Worker& one = worker(rank);
  return 2 * (one.ended + one.begun + one.meetings) + one.waits + (shared().holder == rank + 1 ? 1 : 0);
}

void WorkerTable::refuse_the_dead(const std::string& purpose, const Ranks& missing) const {
  Ranks suspects = culprits(missing);
  suspects.insert(suspects.end(), missing.begin(), missing.end());
  for (const std::uint32_t rank : suspects) {
    const std::int32_t process = worker(rank).process;
    if (process == 0 || !is_gone(process)) continue;
    throw Error(Code::kPeerLost, "{}: rank {} waited {}; {} is gone", self_.where, self_.rank, purpose, names({rank}));
  }
}

void WorkerTable::refuse_the_still(const std::string& purpose, const Watch& watch, const Ranks& missing) const {
  Ranks still = culprits(missing);
  std::erase_if(still, [&](std::uint32_t rank) { return watch.still_for(rank) <= self_.timeout; });
  if (still.empty()) return;
  throw Error(Code::kTimeout, "{}: rank {} waited {}; {} did not move within {} s", self_.where, self_.rank, purpose,
              names(still), static_cast<double>(self_.timeout.count()) / 1000);
}

std::string WorkerTable::names(const Ranks& ranks) const {
  std::vector<std::string> texts;
  for (const std::uint32_t rank : ranks) {
    const std::int32_t process = worker(rank).process;
    texts.push_back(process > 0 ? fmt::format("rank {} (process {})", rank, process) : fmt::format("rank {}", rank));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace trainyard::parameter_server
