// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "collectives/shared_memory/transfers.h"

// Operations on registered memory, that is, memory that all members have mapped. The elements are divided into chunks.
// Every member takes chunks as long as there are any, reads them in the memory of all members and writes the result to
// all members that need it. If a member computes, or is not running at the moment, the others do its share of the work.
// The result does not depend on which member does the work.

namespace trainyard::shared_memory {
namespace {

constexpr std::uint64_t kSmallestChunk = 8 << 10;

constexpr int kTagShift = 32;
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kTagShift) - 1;

/// Returns the count in `claim`. If the sequence number in `claim` is that of an earlier operation, the count is 0.
std::uint64_t number_of(std::uint64_t claim, std::uint64_t sequence) {
  return claim >> kTagShift == (sequence & kNumberMask) ? claim & kNumberMask : 0;
}

std::uint64_t tagged(std::uint64_t sequence, std::uint64_t number) { return sequence << kTagShift | number; }

/// Adds `more` to a counter of operation `sequence`, unless it has reached `limit`. Returns the previous count.
std::uint64_t add(std::atomic<std::uint64_t>& counter, std::uint64_t sequence, std::uint64_t more,
                  std::uint64_t limit) {
  std::uint64_t seen = counter.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t number = number_of(seen, sequence);
    if (number >= limit) return number;
    if (counter.compare_exchange_weak(seen, tagged(sequence, number + more), std::memory_order_acq_rel)) return number;
  }
}

/// Consecutive elements that all belong to the part of the member `owner`.
struct Chunk {
  std::uint32_t owner;
  std::uint64_t first;
  std::uint64_t count;
};

class InPlaceTransfer final : public SharedTransfer {
 public:
  InPlaceTransfer(Group& group, const Operation& operation, Reduce reduce, std::vector<std::byte*> places,
                  std::uint64_t chunk_bytes)
      : SharedTransfer(group, operation),
        shared_(group),
        reduce_(reduce),
        places_(std::move(places)),
        claims_(group.of(0).claims[operation.order % kInFlight]) {
    cut(chunk_bytes);
  }

  Progress advance(Effort effort) override {
    const std::uint64_t share = (total() + group_.size() - 1) / group_.size();
    const std::uint64_t limit = effort == Effort::kEverything ? total() : share - std::min(share, chunks_done_);
    const bool any_left = number_of(claims_.next.load(std::memory_order_relaxed), order()) < total();
    const std::uint64_t taken = limit > 0 && any_left ? work(limit) : 0;
    if (number_of(claims_.finished.load(std::memory_order_acquire), order()) == total()) return Progress::kFinished;
    return taken > 0 ? Progress::kSome : Progress::kNothing;
  }

  Need need() const override { return {kFinished, order()}; }

 private:
  std::uint64_t order() const { return operation_.order; }
  std::uint64_t total() const { return first_chunks_.back(); }
  std::size_t element_bytes() const { return size_of(operation_.data.dtype); }

  // Chunks are so small that there are several for each member, but not so small that taking one costs more time than
  // processing it.
  void cut(std::uint64_t chunk_bytes) {
    const std::uint64_t bytes = std::min(chunk_bytes, std::max(kSmallestChunk, operation_.bytes() / group_.size() / 4));
    chunk_elements_ = std::max<std::uint64_t>(1, bytes / kLine * kLine / element_bytes());
    first_chunks_.assign(1, 0);
    for (std::uint32_t member = 0; member < group_.size(); ++member) {
      const std::uint64_t count = operation_.bounds[member + 1] - operation_.bounds[member];
      first_chunks_.push_back(first_chunks_.back() + (count + chunk_elements_ - 1) / chunk_elements_);
    }
  }

  /// Takes up to `limit` chunks, processes them, and returns how many. Sets Control::working meanwhile, so that the
  /// others know for which members they wait.
  std::uint64_t work(std::uint64_t limit) {
    shared_.own().working.store(order(), std::memory_order_seq_cst);
    const std::uint64_t taken = take_chunks(limit);
    const bool last = taken > 0 && add(claims_.finished, order(), taken, total()) + taken == total();
    shared_.own().working.store(0, std::memory_order_release);
    if (last) shared_.wake_for_finished();
    chunks_done_ += taken;
    return taken;
  }

  std::uint64_t take_chunks(std::uint64_t limit) {
    for (std::uint64_t taken = 0; taken < limit; ++taken) {
      const std::uint64_t number = add(claims_.next, order(), 1, total());
      if (number >= total()) return taken;
      const Chunk chunk = chunk_of(number);
      reduce_ != nullptr ? reduce_chunk(chunk) : copy_chunk(chunk);
    }
    return limit;
  }

  Chunk chunk_of(std::uint64_t number) const {
    const auto after = std::ranges::upper_bound(first_chunks_, number);
    const auto owner = static_cast<std::uint32_t>(after - first_chunks_.begin() - 1);
    const std::uint64_t first = operation_.bounds[owner] + (number - first_chunks_[owner]) * chunk_elements_;
    return {owner, first, std::min(chunk_elements_, operation_.bounds[owner + 1] - first)};
  }

  void reduce_chunk(const Chunk& chunk) const {
    const std::uint64_t offset = chunk.first * element_bytes();
    std::vector<void*> at;
    at.reserve(places_.size());
    for (std::byte* place : places_) at.push_back(place + offset);
    if (operation_.gathers()) {
      reduce_(at.data(), at.size(), at.data(), at.size(), chunk.count);
    } else {
      reduce_(at.data(), at.size(), &at[chunk.owner], 1, chunk.count);
    }
  }

  void copy_chunk(const Chunk& chunk) const {
    const std::uint64_t offset = chunk.first * element_bytes();
    for (std::uint32_t member = 0; member < places_.size(); ++member) {
      if (member == chunk.owner) continue;
      std::memcpy(places_[member] + offset, places_[chunk.owner] + offset, chunk.count * element_bytes());
    }
  }

  Group& shared_;
  const Reduce reduce_;
  const std::vector<std::byte*> places_;
  Claims& claims_;
  /// The number of the first chunk of each part, and the number of chunks at the end.
  std::vector<std::uint64_t> first_chunks_;
  std::uint64_t chunk_elements_ = 0;
  std::uint64_t chunks_done_ = 0;  ///< The number of chunks that this member has processed.
};

}  // namespace

std::unique_ptr<Transfer> make_in_place_transfer(Group& group, const Operation& operation, Reduce reduce,
                                                 std::vector<std::byte*> places, std::uint64_t chunk_bytes) {
  return std::make_unique<InPlaceTransfer>(group, operation, reduce, std::move(places), chunk_bytes);
}

}  // namespace trainyard::shared_memory
