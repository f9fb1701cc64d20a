// SPDX-License-Identifier: Apache-2.0
#include "core/transport/ring_record.h"

#include <array>
#include <cstring>

#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::core {

// The parts of a record, each padded to 8 bytes:
//
//     Head | body or its handle | payload or its handle | payload or its handle | ...

namespace {

/// The start of every record. The body and the payloads follow it, each as a SharedHandle or as bytes padded to 8; an
/// inline payload is preceded by its size. Both sides are processes of one run and one build, so plain structs are
/// enough.
struct Head {
  Header header;
  std::uint64_t body_bytes = 0;
  std::uint64_t body_is_handle = 0;
};

/// The maximum number of bytes of body and payloads that are copied into one record. Copying more would cost more than
/// a handle.
constexpr std::size_t kInlineBytes = 4 << 10;
// A part takes its bytes, plus its size and padding, or a handle. A handle is larger than a size and padding together.
static_assert(sizeof(Head) + (kMaxPayloads + 1) * sizeof(SharedHandle) + kInlineBytes <= kLargestRecord);

std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

std::byte* put(std::byte* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
  return to + padded(bytes);
}

/// Counts a reference for the reader and returns the handle that it will release. The reference is counted before the
/// reader can see the handle.
SharedHandle lend(const Buffer& buffer, std::uint32_t reader) {
  SharedPool::lend(buffer, reader);
  return *buffer.shared();
}

/// Copies heap memory that is too large for a record into the pool. After lend(), the reader's reference keeps the copy
/// alive.
Buffer copy_to_pool(std::span<const std::byte> bytes, SharedPool& pool) {
  Buffer copy = pool.allocate(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

/// For each part of a message: whether it is copied into the record or sent as a handle, and the handle.
struct Parts {
  SharedHandle body;
  bool body_is_handle = false;
  std::array<SharedHandle, kMaxPayloads> payloads;
  std::size_t bytes = sizeof(Head);  ///< The size of the record.
};

/// Decides which parts are sent as handles, and computes the size of the record, which must be known before memory in
/// the ring is reserved.
Parts arrange(Header& header, std::span<const std::byte> body, const std::vector<Buffer>& payloads, SharedPool& pool,
              std::uint32_t reader) {
  Parts parts;
  std::size_t budget = kInlineBytes;
  // The body comes first, then the payloads in order, until the record is full.
  const auto fits = [&](std::size_t bytes) {
    if (bytes > budget) return false;
    budget -= bytes;
    return true;
  };
  parts.body_is_handle = !fits(body.size());
  if (parts.body_is_handle) parts.body = lend(copy_to_pool(body, pool), reader);
  parts.bytes += parts.body_is_handle ? sizeof(SharedHandle) : padded(body.size());
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const Buffer& payload = payloads[i];
    // A payload in shared memory is sent as a handle, however small it is, to avoid a copy.
    if (!payload.shared() && fits(payload.size())) {
      parts.bytes += sizeof(std::uint64_t) + padded(payload.size());
      continue;
    }
    parts.payloads[i] = lend(payload.shared() ? payload : copy_to_pool(payload.bytes(), pool), reader);
    header.handles |= std::uint64_t{1} << i;
    parts.bytes += sizeof(SharedHandle);
  }
  return parts;
}

/// Reads a record's parts, and never beyond its end.
class Parser {
 public:
  explicit Parser(std::span<const std::byte> record) : rest_(record) {}

  std::span<const std::byte> take(std::uint64_t bytes) {
    // The first comparison is needed because padded() of a huge number would overflow.
    if (bytes > rest_.size() || padded(bytes) > rest_.size()) {
      throw Error(Code::kCorrupt, "a part of {} bytes in a ring record with {} left", bytes, rest_.size());
    }
    const auto part = rest_.first(bytes);
    rest_ = rest_.subspan(padded(bytes));
    return part;
  }
  template <class T>
  T read() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

/// Copies bytes to the heap, because the memory of the record is reused soon, but the message may be kept for longer.
Buffer copy_to_heap(std::span<const std::byte> bytes) {
  Buffer buffer = Buffer::heap(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

}  // namespace

void write_record(SharedRing& ring, Header header, std::span<const std::byte> body, const std::vector<Buffer>& payloads,
                  SharedPool& pool, std::uint32_t reader) {
  if (payloads.size() > kMaxPayloads) {
    throw Error(Code::kInvalidArgument, "a message with {} payloads; at most {}", payloads.size(), kMaxPayloads);
  }
  // The reader sees nothing before commit(), so an exception leaves the ring unchanged.
  const Parts parts = arrange(header, body, payloads, pool, reader);
  const Head head{header, body.size(), parts.body_is_handle ? 1u : 0u};
  std::byte* to = put(ring.reserve(parts.bytes), &head, sizeof head);
  to = parts.body_is_handle ? put(to, &parts.body, sizeof(SharedHandle)) : put(to, body.data(), body.size());
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if ((header.handles >> i & 1) != 0) {
      to = put(to, &parts.payloads[i], sizeof(SharedHandle));
    } else {
      const std::uint64_t bytes = payloads[i].size();
      to = put(to, &bytes, sizeof bytes);
      to = put(to, payloads[i].data(), bytes);
    }
  }
  ring.commit();
}

RingRecord read_record(std::span<const std::byte> record, SharedImports& imports, std::vector<Buffer>& payloads) {
  Parser parser(record);
  // The parts are in the order in which they were written, and each read is bounded by the record.
  const auto head = parser.read<Head>();
  RingRecord read;
  read.header = read_header(std::as_bytes(std::span(&head.header, 1)));
  if (head.body_is_handle != 0) {
    read.spilled = imports.open(parser.read<SharedHandle>());
    read.body = read.spilled.bytes();
  } else {
    read.body = parser.take(head.body_bytes);
  }
  for (std::size_t i = 0; i < read.header.payloads; ++i) {
    if ((read.header.handles >> i & 1) != 0) {
      payloads.push_back(imports.open(parser.read<SharedHandle>()));
    } else {
      payloads.push_back(copy_to_heap(parser.take(parser.read<std::uint64_t>())));
    }
  }
  return read;
}

}  // namespace trainyard::core
