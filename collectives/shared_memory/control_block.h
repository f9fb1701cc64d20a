// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collectives/request.h"

// The part of a member's memory that all other members read. It is shared memory, so it consists of lock-free atomics
// and plain numbers, and never contains a pointer. Data that one member writes is never in the same cache line as data
// that another member polls.
//
// The memory of each member is laid out like this:
//
//     Control | a Channel to each rank | slots | staging | a ring to each rank

namespace trainyard::shared_memory {

using collectives::Request;

constexpr std::size_t kLine = 64;

/// The number of operations of the group that can have a descriptor at the same time. A rank with more operations
/// publishes the remaining ones later.
constexpr std::uint64_t kInFlight = 32;

/// The position of elements in registered memory, that is, in memory that all members have mapped (Collective::use).
struct Place {
  static constexpr std::uint32_t kNowhere = ~0u;
  std::uint32_t block = kNowhere;
  std::uint64_t offset = 0;

  bool registered() const { return block != kNowhere; }
};

/// A published operation.
struct alignas(kLine) Descriptor {
  Request request;
  Place place;
};

/// The numbers of chunks that have been taken and finished, for an operation that works in place. Both numbers contain
/// the operation's sequence number in their upper half, so that they need no reset before they are reused. Only the
/// claims in member 0's block are used.
struct alignas(kLine) Claims {
  std::atomic<std::uint64_t> next;      ///< The number of the first chunk that no member has taken.
  std::atomic<std::uint64_t> finished;  ///< The number of chunks that are done.
};

/// The counters of a rank, for which other ranks wait.
enum Counter : std::uint32_t {
  kArrived,   ///< Operations of the group whose descriptor is published.
  kDone,      ///< Operations of the group that are finished at this rank.
  kSteps,     ///< Steps of operations that go through staging memory.
  kFinished,  ///< Not a counter: the rank waits until all chunks of an in-place operation are done.
  kNothing,
};
constexpr std::size_t kCounters = 3;

/// The condition for which a rank waits before it can continue with its operations.
struct Need {
  Counter counter = kNothing;
  std::uint64_t value = 0;  ///< The value that every rank's counter must reach; for kFinished, the operation.
};

/// The reason why the group has failed, in the words of the rank that detected the failure.
struct FailureNote {
  enum State : std::uint32_t { kNone, kWriting, kThere };
  std::atomic<std::uint32_t> state;
  std::uint32_t code;
  char text[1000];
};

/// The fixed part of a member's memory: counters, signs of life, and the descriptors of operations.
struct Control {
  struct alignas(kLine) Count {
    std::atomic<std::uint64_t> value;
  };
  Count counts[kCounters];

  // The next four fields are for sleeping. `bell` is the futex.
  alignas(kLine) std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> asleep;
  std::atomic<std::uint32_t> need_counter;
  std::atomic<std::uint64_t> need_value;

  // The next five fields are signs of life.
  alignas(kLine) std::atomic<std::uint64_t> working;  ///< The operation of which the rank has taken chunks, or 0.
  std::atomic<std::uint32_t> beats;                   ///< A counter that increases while the rank waits.
  /// 0 if the rank does not wait, 1 if it cannot tell for whom it waits, otherwise 2 plus the member for which it
  /// waits.
  std::atomic<std::uint32_t> waits_for;
  std::atomic<std::uint32_t> left;  ///< 1 if the rank has left the group.
  std::atomic<std::int32_t> core;   ///< The core on which the rank last announced an operation or waited.

  alignas(kLine) FailureNote failure;
  std::int32_t pid;
  std::uint64_t start_ticks;  ///< The start time of the process; a later process can have the same pid.
  cpu_set_t cpus;             ///< The cores on which the process may run.

  Descriptor descriptors[kInFlight];
  Claims claims[kInFlight];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// The state of the messages from one rank to another, in the memory of the sender.
struct Channel {
  alignas(kLine) std::atomic<std::uint64_t> written;  ///< Set by the sender: the number of bytes that it has written.
  alignas(kLine) std::atomic<std::uint64_t> read;     ///< Set by the receiver: the number of bytes that it has read.
  std::atomic<std::uint64_t> taken;  ///< Set by the receiver: the number of messages received completely.
};

/// The sizes of the parts of a member's memory, which are the same at every rank. All sizes are multiples of a cache
/// line.
struct Layout {
  std::size_t members = 0;
  std::size_t slot_bytes = 0;     ///< The size of each of the kInFlight slots.
  std::size_t staging_bytes = 0;  ///< The size of all staging buffers together.
  std::size_t ring_bytes = 0;     ///< The size of each ring, a power of two.

  std::size_t channels() const { return sizeof(Control); }
  std::size_t slots() const { return channels() + members * sizeof(Channel); }
  std::size_t staging() const { return slots() + kInFlight * slot_bytes; }
  std::size_t rings() const { return staging() + staging_bytes; }
  std::size_t bytes() const { return rings() + members * ring_bytes; }
};

}  // namespace trainyard::shared_memory
