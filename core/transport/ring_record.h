// SPDX-License-Identifier: Apache-2.0
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

namespace trainyard::core {

/// The size of a ring between two processes, in bytes. A ring of this size can hold a few dozen small messages and fits
/// into the second-level cache of a core; see docs/decisions/0006.
constexpr std::size_t kRingBytes = 64 << 10;

/// The maximum size of a record in bytes. For each part of a message that is too large for the record, a SharedHandle
/// is sent instead.
constexpr std::size_t kLargestRecord = 8 << 10;

/// Writes a message into the ring, which must have room for kLargestRecord bytes. Small bodies and payloads are copied
/// into the record. For a payload in shared memory, only its SharedHandle is written. Everything else is first copied
/// into a buffer of `pool`, whose handle is then written. `reader` is the process index of the receiver, under which
/// references to shared memory are counted. The header in the record is `header` with Header::handles set.
void write_record(SharedRing& ring, Header header, std::span<const std::byte> body, const std::vector<Buffer>& payloads,
                  SharedPool& pool, std::uint32_t reader);

/// A message in a ring. The bytes of the body are not copied: `body` refers to the record or, if the body was too large
/// for the record, to the shared memory in `spilled`.
struct RingRecord {
  Header header;
  std::span<const std::byte> body;
  Buffer spilled;
};

/// Decodes a record and appends its payloads to `payloads`. Payloads in shared memory are opened with `imports`. The
/// result refers to the record, so it must be used before the ring's pop(). Throws kCorrupt for a record that is not
/// well formed, and kPeerLost if the process that owns the memory of a payload has ended.
RingRecord read_record(std::span<const std::byte> record, SharedImports& imports, std::vector<Buffer>& payloads);

}  // namespace trainyard::core
