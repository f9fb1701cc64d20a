// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"
#include "core/config/parameter.h"

namespace trainyard::shared_memory {

/// A collective between processes, or threads, on one host, through memory that all members have mapped.
///
/// Operations work in place on memory that allocate() returned or that was passed to use() ("registered memory"). The
/// elements are divided into chunks; every rank that is free takes the next chunk, reads its elements from the memory
/// of all ranks, and writes the result to the memory of each rank that needs it. So a rank that computes does not delay
/// the others once it has called the operation. Elements in other memory are copied through buffers that stay in the
/// processor's cache. In a small operation, each rank copies its elements into a slot in shared memory, where the other
/// ranks read them. Every element is always combined in the order of the ranks.
///
/// A waiting rank polls for `spin_us` microseconds, then sleeps. If ranks share cores, it instead yields the processor
/// a few times before it sleeps.
///
/// A large send from registered memory is finished when the receiver has copied the elements. Any other send is
/// finished when all its elements have been written to a ring buffer of `ring_bytes` bytes. Since a send may thus wait
/// for the receiver, ranks that send to each other must call both send and recv before they wait for either.
///
/// Parameters  spin_us, small_bytes, chunk_bytes, staging_bytes, ring_bytes; all but the first must be the same on
///             every rank
/// Errors      kPeerLost and kTimeout name the rank to blame; kShapeMismatch lists what each rank called
class SharedMemory final : public Collective {
 public:
  explicit SharedMemory(CollectiveContext& context) : Collective(context) {}

 private:
  collectives::Backend open() override;

  Parameter<std::int64_t> spin_us_{*this, "spin_us", 50, "how long a waiting rank polls before it sleeps",
                                   at_least(0) | in_unit("us")};
  Parameter<std::int64_t> small_bytes_{*this, "small_bytes", 32 << 10,
                                       "the largest operation that is done through small slots; on registered memory, "
                                       "a quarter of this",
                                       between(1 << 10, 1 << 24) | in_unit("bytes")};
  Parameter<std::int64_t> chunk_bytes_{*this, "chunk_bytes", 256 << 10,
                                       "size of the piece that a rank works on at a time",
                                       between(1 << 10, 1 << 30) | in_unit("bytes")};
  Parameter<std::int64_t> staging_bytes_{*this, "staging_bytes", 2 << 20,
                                         "size of each rank's buffer for memory that the others cannot map",
                                         between(1 << 16, 1 << 30) | in_unit("bytes")};
  Parameter<std::int64_t> ring_bytes_{*this, "ring_bytes", 512 << 10,
                                      "size of the ring for messages to each other rank",
                                      between(1 << 12, 1 << 30) | in_unit("bytes")};
};

}  // namespace trainyard::shared_memory
