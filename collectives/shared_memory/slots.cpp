#include <cstring>

#include "collectives/shared_memory/ways.h"

// Small operations: each rank has its input in a slot of its own memory when it publishes the operation. When all have,
// each reads the others' slots and works out the result, all in the same order. One meeting, and nobody waits for
// anybody's result.

namespace trainyard::shared_memory {

void put_into_slot(Group& group, const Operation& operation) {
  std::byte* slot = group.slot(group.rank(), operation.sequence);
  if (operation.reduces()) {
    std::memcpy(slot, operation.data, operation.bytes());
    return;
  }
  const std::uint64_t begin = operation.bounds[group.rank()] * operation.element_bytes();
  const std::uint64_t end = operation.bounds[group.rank() + 1] * operation.element_bytes();
  if (begin != end) std::memcpy(slot, operation.data + begin, end - begin);
}

namespace {

void reduce_slots(const Group& group, const Operation& operation) {
  const std::uint64_t first = operation.gathers() ? 0 : operation.bounds[group.rank()];
  const std::uint64_t last = operation.gathers() ? operation.request.count : operation.bounds[group.rank() + 1];
  const std::uint64_t offset = first * operation.element_bytes();
  std::vector<const void*> inputs(group.size());
  for (std::uint32_t member = 0; member < group.size(); ++member) {
    const std::byte* input = member == group.rank() ? operation.data : group.slot(member, operation.sequence);
    inputs[member] = input + offset;
  }
  void* output = operation.data + offset;
  operation.reduce(inputs.data(), inputs.size(), &output, 1, last - first);
}

void gather_slots(const Group& group, const Operation& operation) {
  for (std::uint32_t member = 0; member < group.size(); ++member) {
    const std::uint64_t begin = operation.bounds[member] * operation.element_bytes();
    const std::uint64_t end = operation.bounds[member + 1] * operation.element_bytes();
    if (member == group.rank() || begin == end) continue;
    std::memcpy(operation.data + begin, group.slot(member, operation.sequence), end - begin);
  }
}

}  // namespace

void finish_in_slots(Group& group, Operation& operation) {
  if (operation.reduces()) {
    reduce_slots(group, operation);
  } else {
    gather_slots(group, operation);
  }
  operation.finished = true;
}

}  // namespace trainyard::shared_memory
