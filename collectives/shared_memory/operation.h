#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "collectives/shared_memory/control_block.h"
#include "collectives/shared_memory/kernels.h"

namespace trainyard::shared_memory {

/// How a collective operation moves its data; follows from the descriptors alone, so that all choose the same.
enum class Way : std::uint8_t {
  kUnknown,  ///< Before all have come.
  kSlots,    ///< Small: each rank has put its input into a slot, and each works out the result for itself.
  kInPlace,  ///< Registered: chunks are taken by whoever has time, and written where they belong.
  kStaging,  ///< Anything else: piece by piece through buffers that stay in the cache.
};

/// An operation that was asked for here and is not finished.
struct Operation {
  Request request;
  std::byte* data = nullptr;
  std::uint32_t peer = 0;             ///< Of send and recv.
  std::vector<std::uint64_t> bounds;  ///< Of collective ones, in elements: member m's part is [bounds[m], bounds[m+1]).
  Reduce reduce = nullptr;            ///< Of those that reduce.

  std::uint64_t number = 0;    ///< Among all operations of this member.
  std::uint64_t sequence = 0;  ///< Among the collective ones, or among the messages of this direction; from 1.
  bool begun = false;          ///< Others know of it.
  bool finished = false;
  Way way = Way::kUnknown;

  // For whoever waits: since when nothing has moved, and what had moved until then. Epoch: nobody has asked.
  std::chrono::steady_clock::time_point asked;
  std::uint64_t signs = 0;

  // In place: where it lies at each member, and the chunks.
  std::vector<std::byte*> places;
  std::vector<std::uint64_t> first_chunks;  ///< Of each part; one more for the end.
  std::uint64_t chunk_elements = 0;
  std::uint64_t chunks_done = 0;  ///< By this member.
  // Through staging memory.
  std::uint64_t first_step = 0;
  std::uint64_t step = 0;
  std::uint64_t piece_elements = 0;  ///< Of one member's part in one piece.
  std::uint64_t pieces = 0;
  // Messages.
  bool direct = false;      ///< The receiver copies from the sender's registered memory.
  std::uint64_t moved = 0;  ///< Bytes that went through the ring.
  Place source;

  std::uint64_t bytes() const { return request.bytes(); }
  std::size_t element_bytes() const { return size_of(request.dtype); }
  bool collective() const { return request.kind != Kind::kSend && request.kind != Kind::kRecv; }
  /// All members' elements are combined; else they are only brought from one place to others.
  bool reduces() const { return reduce != nullptr; }
  /// Every member gets all parts; else each its own.
  bool gathers() const { return request.kind != Kind::kReduceScatter; }
  bool writes() const { return request.kind != Kind::kSend; }
  bool overlaps(const Operation& other) const {
    return data < other.data + other.bytes() && other.data < data + bytes();
  }
};

/// "all_reduce(sum) of float32[100]", "broadcast of int64[3] from rank 1"; `root` is that rank's number in the run.
std::string words_of(const Request& request, std::uint32_t root);

/// A hash of bounds, by which ranks see that theirs differ.
std::uint64_t hash_of(const std::vector<std::uint64_t>& bounds);

}  // namespace trainyard::shared_memory
