// SPDX-License-Identifier: Apache-2.0
#include "strategies/parameter_server/worker_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace trainyard::parameter_server {

WorkerTable::WorkerTable(Buffer memory, Member self)
    : self_(std::move(self)), board_(std::move(memory), self_.ranks), patience_(board_, self_) {
  own().process = ::getpid();
}

WorkerTable::~WorkerTable() {
  if (is_locked()) unlock();
  own().process = Board::kLeft;
  board_.changed();
}

void WorkerTable::lock() {
  patience_.wait("for its turn at the server", [this]() -> Ranks {
    std::uint32_t holder = 0;
    if (board_.common().holder.compare_exchange_strong(holder, self_.rank + 1)) return {};
    return {holder - 1};
  });
}

void WorkerTable::unlock() {
  board_.common().holder = 0;
  board_.changed();
}

bool WorkerTable::is_locked() const { return board_.common().holder == self_.rank + 1; }

std::uint64_t WorkerTable::count_update() { return ++board_.common().updates; }
std::uint64_t WorkerTable::updates() const { return board_.common().updates; }
std::uint64_t WorkerTable::ended() const { return own().ended; }
std::uint64_t WorkerTable::widest_spread() const { return board_.common().spread; }

void WorkerTable::end_step() {
  ++own().ended;
  board_.changed();
}

void WorkerTable::begin_step() {
  std::uint64_t slowest = own().ended;
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (!is_away(rank)) slowest = std::min<std::uint64_t>(slowest, board_.worker(rank).ended);
  }
  const std::uint64_t spread = own().ended - slowest;
  std::uint64_t widest = board_.common().spread;
  while (widest < spread && !board_.common().spread.compare_exchange_weak(widest, spread)) {
  }
  own().begun = own().ended.load();
  board_.changed();
}

/// Returns true if the worker `rank` has reached a meeting that this worker has not reached yet.
bool WorkerTable::is_away(std::uint32_t rank) const { return board_.worker(rank).meetings > own().meetings; }

Ranks WorkerTable::behind(std::uint64_t ended) const {
  Ranks late;
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (board_.worker(rank).ended < ended && !is_away(rank)) late.push_back(rank);
  }
  return late;
}

bool WorkerTable::is_near(std::uint64_t steps) const {
  return own().ended <= steps || behind(own().ended - steps).empty();
}

void WorkerTable::wait_until_near(std::uint64_t steps) {
  patience_.wait(fmt::format("for workers more than {} steps behind", steps),
                 [this, steps] { return own().ended <= steps ? Ranks{} : behind(own().ended - steps); });
}

void WorkerTable::wait_until_begun(std::uint64_t steps) {
  patience_.wait(fmt::format("for workers more than {} steps behind", steps), [this, steps] {
    Ranks late;
    for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
      if (board_.worker(rank).begun + steps < own().begun && !is_away(rank)) late.push_back(rank);
    }
    return late;
  });
}

void WorkerTable::wait_for_step_of(std::uint32_t rank) {
  patience_.wait("for the update of this step",
                 [this, rank] { return board_.worker(rank).ended > own().ended ? Ranks{} : Ranks{rank}; });
}

void WorkerTable::meet() {
  const std::uint64_t meeting = ++own().meetings;
  board_.changed();
  patience_.wait("for all workers to meet", [this, meeting] {
    Ranks late;
    for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
      if (board_.worker(rank).meetings < meeting) late.push_back(rank);
    }
    return late;
  });
}

void WorkerTable::level() {
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    own().ended = std::max<std::uint64_t>(own().ended, board_.worker(rank).ended);
  }
  own().begun = own().ended.load();
}

std::vector<std::uint32_t> WorkerTable::waiting() const {
  Ranks ranks;
  for (std::uint32_t rank = 0; rank < self_.ranks; ++rank) {
    if (board_.worker(rank).waits != 0) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace trainyard::parameter_server
