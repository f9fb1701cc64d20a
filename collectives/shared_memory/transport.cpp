// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/transport.h"

namespace trainyard::shared_memory {

using collectives::OperationKind;

std::optional<std::vector<std::uint32_t>> SharedTransfer::missing() const {
  const Need needed = need();
  std::vector<std::uint32_t> members;
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    if (member == group_.rank()) continue;
    const bool is_missing = needed.counter == kFinished ? group_.of(member).working.load() == needed.value
                                                        : group_.count(member, needed.counter) < needed.value;
    if (is_missing) members.push_back(member);
  }
  return members;
}

const Descriptor& SharedTransport::descriptor_of(std::uint32_t member, const Operation& operation) const {
  return group_.of(member).descriptors[operation.order % kInFlight];
}

// All members read the same descriptors, so all choose the same method.
std::unique_ptr<Transfer> SharedTransport::begin(const Operation& operation) {
  const auto& kernels = kernels_.reduce[static_cast<int>(operation.data.dtype)];
  const Reduce reduce = operation.reduces() ? kernels[static_cast<int>(operation.request.op)] : nullptr;
  bool slots = true;
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    slots = slots && fits_slot(group_, descriptor_of(member, operation));
  }
  if (slots) return make_slot_transfer(group_, operation, reduce, scratch_);
  std::vector<std::byte*> places = find_places(operation);
  if (places.empty()) return make_staged_transfer(group_, operation, reduce);
  return make_in_place_transfer(group_, operation, reduce, std::move(places), chunk_bytes_);
}

/// Returns, for each member, the address at which its elements are mapped. Returns an empty list if the elements of any
/// member are not in memory that all members have mapped.
std::vector<std::byte*> SharedTransport::find_places(const Operation& operation) const {
  std::vector<std::byte*> places;
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    std::byte* address = blocks_.address(member, descriptor_of(member, operation).place, operation.bytes());
    if (address == nullptr) return {};
    places.push_back(address);
  }
  return places;
}

void SharedTransport::map(const Buffer& own, std::span<const SharedHandle> handles) {
  blocks_.add(map_block(own, {handles.begin(), handles.end()}, group_.rank()));
}

std::unique_ptr<Transfer> RingMessages::begin(const Operation& operation) {
  if (operation.request.kind == OperationKind::kSend) return make_send_transfer(group_, blocks_, operation);
  return make_receive_transfer(group_, blocks_, operation, ranks_);
}

}  // namespace trainyard::shared_memory
