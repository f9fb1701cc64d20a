// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collectives/shared_memory/blocks.h"
#include "collectives/shared_memory/group.h"
#include "collectives/shared_memory/kernels.h"
#include "collectives/transport.h"

// The transfers of collective operations and of messages (send and recv). A collective operation uses one of three
// methods. All members choose the same method, because it depends only on the descriptors that all members have
// published:
//
//   slots     small: each rank has put its input into a slot, and each works out the result for itself
//   in place  registered: chunks are taken by any member that has time, and written where they belong
//   staged    anything else: piece by piece through buffers that stay in the cache
//
// If `reduce` is null, elements are only copied.

namespace trainyard::shared_memory {

using collectives::Effort;
using collectives::Operation;
using collectives::Progress;
using collectives::Transfer;

/// The transfer of a collective operation.
class SharedTransfer : public Transfer {
 public:
  SharedTransfer(const Group& group, const Operation& operation) : group_(group), operation_(operation) {}

  /// Returns the condition that the other members must meet before this transfer can continue.
  virtual Need need() const = 0;
  std::optional<std::vector<std::uint32_t>> missing() const final;

 protected:
  const Group& group_;
  const Operation& operation_;
};

/// Returns true if the elements of an operation with this descriptor fit into a slot.
bool fits_slot(const Group& group, const Descriptor& descriptor);
/// Copies the elements into the calling member's slot for the operation. Must be called before the operation is
/// announced, because the other members read the slot afterwards.
void put_into_slot(Group& group, const Operation& operation);
/// Makes the transfer of an operation whose elements are in slots. `scratch` is memory that successive operations
/// reuse; it must outlive the transfer. `reduce` is null if elements are only copied.
std::unique_ptr<Transfer> make_slot_transfer(const Group& group, const Operation& operation, Reduce reduce,
                                             std::vector<const void*>& scratch);

/// Makes a transfer that works directly in the memory of all members. `places` contains, for each member, the address
/// in this process at which that member's elements are mapped. `chunk_bytes` is the maximum size of a chunk, which one
/// member processes at a time.
std::unique_ptr<Transfer> make_in_place_transfer(Group& group, const Operation& operation, Reduce reduce,
                                                 std::vector<std::byte*> places, std::uint64_t chunk_bytes);

/// Makes a transfer that copies elements through the staging buffers, for memory that other members cannot access.
std::unique_ptr<Transfer> make_staged_transfer(Group& group, const Operation& operation, Reduce reduce);

/// Makes the transfer of a send.
std::unique_ptr<Transfer> make_send_transfer(Group& group, const Blocks& blocks, const Operation& operation);
/// Makes the transfer of a recv. `ranks` contains the rank of each member, for error messages.
std::unique_ptr<Transfer> make_receive_transfer(Group& group, const Blocks& blocks, const Operation& operation,
                                                const std::vector<std::uint32_t>& ranks);

}  // namespace trainyard::shared_memory
