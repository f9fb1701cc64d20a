#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/memory/shared_imports.h"
#include "core/memory/shared_pool.h"
#include "core/memory/shared_ring.h"
#include "messages/buffer.h"
#include "messages/header.h"

namespace trainyard {

/// Of a ring between two processes: some dozens of small messages, small enough to stay in a core's second-level cache.
/// See docs/decisions/0006.
constexpr std::size_t kRingBytes = 64 << 10;

/// No record is larger: what would be travels by handle.
constexpr std::size_t kLargestRecord = 8 << 10;

/// Writes a message into the ring, which has room for kLargestRecord bytes. Small bodies and payloads are copied in;
/// shared buffers go by handle; everything else is first copied into a buffer of the pool. Sets `header.handles`.
void write_record(SharedRing& ring, Header header, std::span<const std::byte> body, const std::vector<Buffer>& payloads,
                  SharedPool& pool, std::uint32_t reader);

/// A message in a ring. The body's bytes stay where they are, in the record or in `spilled`.
struct RingRecord {
  Header header;
  std::span<const std::byte> body;
  Buffer spilled;
};

/// Takes a record apart; its payloads are appended to `payloads`. Throws kCorrupt for one that is not well formed,
/// kPeerLost if a buffer's owner is gone. What is returned refers to the record: it must be used before the ring's
/// pop().
RingRecord read_record(std::span<const std::byte> record, SharedImports& imports, std::vector<Buffer>& payloads);

}  // namespace trainyard
