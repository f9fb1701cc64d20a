#include <algorithm>
#include <cstring>

#include "collectives/shared_memory/ways.h"

// Operations on registered memory: the parts are cut into chunks, and every member takes chunks as long as there are
// any, reads them in everybody's memory and writes the result where it belongs. A member that computes elsewhere, or
// has no processor, is no hindrance: the others do its work. Who does it makes no difference to the result.

namespace trainyard::shared_memory {
namespace {

constexpr std::uint64_t kSmallestChunk = 8 << 10;

constexpr int kTagShift = 32;
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kTagShift) - 1;

/// The number in `claim` if it is of this operation; else nothing has been counted yet.
std::uint64_t number_of(std::uint64_t claim, std::uint64_t sequence) {
  return claim >> kTagShift == (sequence & kNumberMask) ? claim & kNumberMask : 0;
}

std::uint64_t tagged(std::uint64_t sequence, std::uint64_t number) { return sequence << kTagShift | number; }

/// Adds to a counter of this operation, but not beyond `limit`; returns what it was before.
std::uint64_t add(std::atomic<std::uint64_t>& counter, std::uint64_t sequence, std::uint64_t more,
                  std::uint64_t limit) {
  std::uint64_t seen = counter.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t number = number_of(seen, sequence);
    if (number >= limit) return number;
    if (counter.compare_exchange_weak(seen, tagged(sequence, number + more), std::memory_order_acq_rel)) return number;
  }
}

/// A run of elements that belongs to one part.
struct Chunk {
  std::uint32_t owner;
  std::uint64_t first;
  std::uint64_t count;
};

Chunk chunk_of(const Operation& operation, std::uint64_t number) {
  const auto after = std::ranges::upper_bound(operation.first_chunks, number);
  const auto owner = static_cast<std::uint32_t>(after - operation.first_chunks.begin() - 1);
  const std::uint64_t first =
      operation.bounds[owner] + (number - operation.first_chunks[owner]) * operation.chunk_elements;
  return {owner, first, std::min(operation.chunk_elements, operation.bounds[owner + 1] - first)};
}

void reduce_chunk(const Operation& operation, const Chunk& chunk) {
  const std::uint64_t offset = chunk.first * operation.element_bytes();
  std::vector<void*> places;
  for (std::byte* place : operation.places) places.push_back(place + offset);
  if (operation.gathers()) {
    operation.reduce(places.data(), places.size(), places.data(), places.size(), chunk.count);
  } else {
    operation.reduce(places.data(), places.size(), &places[chunk.owner], 1, chunk.count);
  }
}

void copy_chunk(const Operation& operation, const Chunk& chunk) {
  const std::uint64_t offset = chunk.first * operation.element_bytes();
  for (std::uint32_t member = 0; member < operation.places.size(); ++member) {
    if (member == chunk.owner) continue;
    std::memcpy(operation.places[member] + offset, operation.places[chunk.owner] + offset,
                chunk.count * operation.element_bytes());
  }
}

/// Takes chunks and does them until there are none, or until this member has had `limit` of them. Returns how many.
std::uint64_t take_chunks(Claims& claims, const Operation& operation, std::uint64_t limit) {
  const std::uint64_t total = operation.first_chunks.back();
  for (std::uint64_t taken = 0; taken < limit; ++taken) {
    const std::uint64_t number = add(claims.next, operation.sequence, 1, total);
    if (number >= total) return taken;
    const Chunk chunk = chunk_of(operation, number);
    operation.reduces() ? reduce_chunk(operation, chunk) : copy_chunk(operation, chunk);
  }
  return limit;
}

}  // namespace

void prepare_in_place(const Group& group, Operation& operation, std::uint64_t chunk_bytes) {
  // At least some for each member, but not so small that taking one costs more than doing it.
  const std::uint64_t bytes = std::min(chunk_bytes, std::max(kSmallestChunk, operation.bytes() / group.size() / 4));
  operation.chunk_elements = std::max<std::uint64_t>(1, bytes / kLine * kLine / operation.element_bytes());
  operation.first_chunks.assign(1, 0);
  for (std::uint32_t member = 0; member < group.size(); ++member) {
    const std::uint64_t count = operation.bounds[member + 1] - operation.bounds[member];
    const std::uint64_t chunks = (count + operation.chunk_elements - 1) / operation.chunk_elements;
    operation.first_chunks.push_back(operation.first_chunks.back() + chunks);
  }
}

bool advance_in_place(Group& group, Operation& operation, bool everything) {
  Claims& claims = group.of(0).claims[operation.sequence % kInFlight];
  const std::uint64_t total = operation.first_chunks.back();
  const std::uint64_t share = (total + group.size() - 1) / group.size();
  const std::uint64_t limit = everything ? total : share - std::min(share, operation.chunks_done);
  const bool any_left = number_of(claims.next.load(std::memory_order_relaxed), operation.sequence) < total;
  std::uint64_t taken = 0;
  if (limit > 0 && any_left) {
    // Said before a chunk is taken, so that the others know whom to wait for.
    group.own().working.store(operation.sequence, std::memory_order_seq_cst);
    taken = take_chunks(claims, operation, limit);
    const bool last = taken > 0 && add(claims.finished, operation.sequence, taken, total) + taken == total;
    group.own().working.store(0, std::memory_order_release);
    if (last) group.wake_for_finished();
    operation.chunks_done += taken;
  }
  operation.finished = number_of(claims.finished.load(std::memory_order_acquire), operation.sequence) == total;
  return taken > 0 || operation.finished;
}

}  // namespace trainyard::shared_memory
