// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "collectives/shared_memory/transfers.h"

// Small operations. Before a rank announces the operation, it copies its elements into a slot in its shared memory.
// When all ranks have announced it, each rank reads the slots of all ranks and computes the result in the order of the
// ranks. So the ranks synchronise only once, and no rank waits for another rank's result.

namespace trainyard::shared_memory {

// In-place operations on registered memory are faster than slots even for rather small sizes, so the limit for slots is
// lower.
bool fits_slot(const Group& group, const Descriptor& descriptor) {
  constexpr std::uint64_t kRegisteredPays = 4;
  const std::uint64_t bytes = descriptor.request.bytes() * (descriptor.place.registered() ? kRegisteredPays : 1);
  return bytes <= group.layout().slot_bytes;
}

void put_into_slot(Group& group, const Operation& operation) {
  std::byte* slot = group.slot(group.rank(), operation.order);
  const std::span<const std::byte> input = operation.reduces() ? operation.whole() : operation.part(group.rank());
  if (!input.empty()) std::memcpy(slot, input.data(), input.size());
}

namespace {

class SlotTransfer final : public SharedTransfer {
 public:
  SlotTransfer(const Group& group, const Operation& operation, Reduce reduce, std::vector<const void*>& scratch)
      : SharedTransfer(group, operation), reduce_(reduce), inputs_(scratch) {}

  Progress advance(Effort) override {
    reduce_ != nullptr ? reduce() : gather();
    return Progress::kFinished;
  }

  Need need() const override { return {kArrived, operation_.order}; }

 private:
  void reduce() const {
    const std::uint64_t first = operation_.gathers() ? 0 : operation_.bounds[group_.rank()];
    const std::uint64_t last = operation_.gathers() ? operation_.data.count : operation_.bounds[group_.rank() + 1];
    const std::uint64_t offset = first * size_of(operation_.data.dtype);
    inputs_.resize(group_.size());
    for (std::uint32_t member = 0; member < group_.size(); ++member) {
      inputs_[member] = (member == group_.rank() ? operation_.at(0) : group_.slot(member, operation_.order)) + offset;
    }
    void* output = operation_.at(first);
    reduce_(inputs_.data(), inputs_.size(), &output, 1, last - first);
  }

  void gather() const {
    for (std::uint32_t member = 0; member < group_.size(); ++member) {
      const std::span<std::byte> part = operation_.part(member);
      if (member == group_.rank() || part.empty()) continue;
      std::memcpy(part.data(), group_.slot(member, operation_.order), part.size());
    }
  }

  const Reduce reduce_;
  std::vector<const void*>& inputs_;
};

}  // namespace

std::unique_ptr<Transfer> make_slot_transfer(const Group& group, const Operation& operation, Reduce reduce,
                                             std::vector<const void*>& scratch) {
  return std::make_unique<SlotTransfer>(group, operation, reduce, scratch);
}

}  // namespace trainyard::shared_memory
