// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collectives/request.h"

// The memory of a member that all other members map. It consists of lock-free atomics and plain numbers, and contains
// no pointers, because it has a different address in every process. Data that different members write is in different
// cache lines.
//
// The memory of each member is laid out like this:
//
//     Control | a Channel to each rank | slots | staging | a ring to each rank

namespace trainyard::shared_memory {

using collectives::Request;

constexpr std::size_t kLine = 64;

/// The maximum number of collective operations that a rank has announced but that not all ranks have finished.
/// Further operations are announced later.
constexpr std::uint64_t kInFlight = 32;

/// The position of elements in registered memory, that is, in memory that all members have mapped (Collective::use).
struct Place {
  static constexpr std::uint32_t kNowhere = ~0u;
  std::uint32_t block = kNowhere;
  std::uint64_t offset = 0;

  bool registered() const { return block != kNowhere; }
};

/// What a rank publishes about an operation that it has called.
struct alignas(kLine) Descriptor {
  Request request;
  Place place;
};

/// Counts the chunks of an in-place operation that members have taken, and those that are finished. The upper half of
/// each number contains the operation's sequence number, so the numbers need not be reset before another operation uses
/// them. Only the Claims in the block of member 0 are used.
struct alignas(kLine) Claims {
  std::atomic<std::uint64_t> next;      ///< The number of the first chunk that no member has taken.
  std::atomic<std::uint64_t> finished;  ///< The number of chunks that are done.
};

/// The counters of a rank that other ranks can wait for.
enum Counter : std::uint32_t {
  kArrived,   ///< Collective operations that the rank has announced.
  kDone,      ///< Collective operations that the rank has finished.
  kSteps,     ///< Steps of operations that copy elements through the staging buffers; see staged.cpp.
  kFinished,  ///< Not a counter: the rank waits until all chunks of an in-place operation are done.
  kNothing,
};
constexpr std::size_t kCounters = 3;

/// The condition that a rank waits for before it continues with its operations.
struct Need {
  Counter counter = kNothing;
  /// The value that the counters of all ranks must reach; for kFinished, the number of the operation.
  std::uint64_t value = 0;
};

/// The failure that a rank has detected and reports to the others.
struct FailureNote {
  enum State : std::uint32_t { kNone, kWriting, kThere };
  std::atomic<std::uint32_t> state;
  std::uint32_t code;
  char text[1000];
};

/// The part of a member's shared memory that has a fixed size: counters, signs of life, and the descriptors of
/// operations.
struct Control {
  struct alignas(kLine) Count {
    std::atomic<std::uint64_t> value;
  };
  Count counts[kCounters];

  // The next four fields are for sleeping. A sleeping member waits on the futex `bell`.
  alignas(kLine) std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> asleep;
  std::atomic<std::uint32_t> need_counter;
  std::atomic<std::uint64_t> need_value;

  // The next five fields are signs of life.
  /// The number of the in-place operation whose chunks the rank is processing, or 0.
  alignas(kLine) std::atomic<std::uint64_t> working;
  std::atomic<std::uint32_t> beats;  ///< A counter that increases while the rank waits.
  /// 0 if the rank does not wait, 1 if it cannot tell which member it waits for, otherwise 2 plus the index of that
  /// member.
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

/// The state of the messages from one rank to another. It is in the memory of the sender.
struct Channel {
  alignas(kLine) std::atomic<std::uint64_t> written;  ///< Set by the sender: the number of bytes that it has written.
  alignas(kLine) std::atomic<std::uint64_t> read;     ///< Set by the receiver: the number of bytes that it has read.
  std::atomic<std::uint64_t> taken;  ///< Set by the receiver: the number of messages received completely.
};

/// The sizes of the parts of a member's memory, which are the same for all members. All sizes are multiples of a cache
/// line.
struct Layout {
  std::size_t members = 0;
  std::size_t slot_bytes = 0;     ///< The size of each of the kInFlight slots.
  std::size_t staging_bytes = 0;  ///< The size of all staging buffers of one member together.
  std::size_t ring_bytes = 0;     ///< The size of each ring, a power of two.

  std::size_t channels() const { return sizeof(Control); }
  std::size_t slots() const { return channels() + members * sizeof(Channel); }
  std::size_t staging() const { return slots() + kInFlight * slot_bytes; }
  std::size_t rings() const { return staging() + staging_bytes; }
  std::size_t bytes() const { return rings() + members * ring_bytes; }
};

}  // namespace trainyard::shared_memory
