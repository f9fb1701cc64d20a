// SPDX-License-Identifier: Apache-2.0
#include "strategies/parameter_server/board.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <utility>

namespace trainyard::parameter_server {

std::size_t Board::bytes(std::uint32_t ranks) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
  return sizeof(Common) + ranks * sizeof(Worker);
}

Board::Board(Buffer memory, std::uint32_t ranks) : memory_(std::move(memory)), ranks_(ranks) {}

Board::Common& Board::common() const { return *reinterpret_cast<Common*>(memory_.data()); }

Board::Worker& Board::worker(std::uint32_t rank) const {
  return reinterpret_cast<Worker*>(memory_.data() + sizeof(Common))[rank];
}

void Board::changed() const {
  ++common().events;
  if (common().sleepers > 0) {
    ::syscall(SYS_futex, &common().events, FUTEX_WAKE, ranks_, nullptr, nullptr, 0);
  }
}

/// The futex is not private (FUTEX_PRIVATE_FLAG), because processes share it.
void Board::sleep(std::uint32_t seen, std::chrono::milliseconds longest) const {
  const timespec span{0, std::chrono::nanoseconds(longest).count()};
  ::syscall(SYS_futex, &common().events, FUTEX_WAIT, seen, &span, nullptr, 0);
}

}  // namespace trainyard::parameter_server
