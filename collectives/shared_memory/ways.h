#pragma once

#include "collectives/shared_memory/blocks.h"
#include "collectives/shared_memory/group.h"
#include "collectives/shared_memory/operation.h"

// The three ways in which a collective operation moves its data, and messages. `advance_...` does what can be done
// without waiting, returns true if that was anything, and sets `finished`.

namespace trainyard::shared_memory {

/// Before the operation is published.
void put_into_slot(Group& group, const Operation& operation);
/// When all have published it; finishes it.
void finish_in_slots(Group& group, Operation& operation);

/// When all have published it. `chunk_bytes`: of each member's memory.
void prepare_in_place(const Group& group, Operation& operation, std::uint64_t chunk_bytes);
/// `everything`: not only this member's share of the work, but whatever is left.
bool advance_in_place(Group& group, Operation& operation, bool everything);

/// When all have published it.
void prepare_staged(const Group& group, Operation& operation);
bool advance_staged(Group& group, Operation& operation);
/// That every member's kSteps must reach before this one can go on.
std::uint64_t steps_needed(const Group& group, const Operation& operation);

bool advance_send(Group& group, Operation& operation);
/// The sender sends something else than is received.
struct MessageMismatch {
  Request sent;
};
/// Throws MessageMismatch.
bool advance_recv(Group& group, const Blocks& blocks, Operation& operation);

}  // namespace trainyard::shared_memory
