// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/shared_memory.h"

#include <algorithm>
#include <bit>

#include "collectives/shared_memory/agreement.h"
#include "collectives/shared_memory/transport.h"

namespace trainyard::shared_memory {
namespace {

constexpr std::size_t kStagingUnit = 4096;

/// Rounds `bytes` up to a multiple of `unit`.
std::size_t rounded_up(std::int64_t bytes, std::size_t unit) {
  return (static_cast<std::size_t>(bytes) + unit - 1) / unit * unit;
}

}  // namespace

collectives::Backend SharedMemory::open() {
  Layout layout;
  layout.members = size();
  layout.slot_bytes = rounded_up(*small_bytes_, kLine);
  // There are four staging buffers, and each of them has a section for each member.
  layout.staging_bytes = std::max(rounded_up(*staging_bytes_, kStagingUnit), size() * kStagingUnit);
  layout.ring_bytes = std::bit_ceil(static_cast<std::size_t>(*ring_bytes_));
  auto agreement = std::make_unique<SharedAgreement>(std::make_unique<Group>(context(), rank(), layout),
                                                     std::chrono::microseconds(*spin_us_));
  Group& group = agreement->group();
  Blocks& blocks = agreement->blocks();
  collectives::Backend backend;
  backend.agreement = std::move(agreement);
  backend.attendance = std::make_unique<SharedAttendance>(group);
  backend.messages = std::make_unique<RingMessages>(group, blocks, ranks());
  backend.transport = std::make_unique<SharedTransport>(group, blocks, static_cast<std::uint64_t>(*chunk_bytes_));
  backend.thread = collectives::Thread::kCaller;
  return backend;
}

}  // namespace trainyard::shared_memory

TRAINYARD_COLLECTIVE(trainyard::shared_memory::SharedMemory, "shared_memory",
                     "between processes of one host, through shared memory")
