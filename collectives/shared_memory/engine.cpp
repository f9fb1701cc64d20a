#include "collectives/shared_memory/engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::shared_memory {
namespace {

/// From here on a receiver copies a message of registered memory itself.
constexpr std::uint64_t kDirectMessage = 32 << 10;

}  // namespace

Engine::Engine(Group& group, const Blocks& blocks, Settings settings)
    : group_(group),
      blocks_(blocks),
      settings_(std::move(settings)),
      last_sequences_(1 + 2 * group.size()),
      occupied_(1 + 2 * group.size()) {}

// Collective operations are one queue; messages to each member and from each member are others.
std::size_t Engine::queue_of(const Operation& operation) const {
  if (operation.collective()) return 0;
  return 1 + operation.peer + (operation.request.kind == Kind::kRecv ? group_.size() : 0);
}

std::uint64_t Engine::ask(Operation operation) {
  throw_if_broken();
  group_.note_core();
  const std::size_t queue = queue_of(operation);
  const auto same_queue = [&](const Operation& other) { return queue_of(other) == queue; };
  const auto waits = [&](const Operation& other) {
    return same_queue(other) && !other.finished && !(other.collective() && other.begun);
  };
  const bool first = std::ranges::none_of(operations_, waits);
  operation.number = ++last_number_;
  operation.sequence = ++last_sequences_[queue];
  operation.source = blocks_.find(operation.data, operation.bytes());
  if (operation.request.kind == Kind::kSend) {
    operation.direct = operation.source.registered() && operation.bytes() >= kDirectMessage;
  }
  operations_.push_back(std::move(operation));
  Operation& taken = operations_.back();
  // The others can go on with it while this member computes. What is received has time.
  if (first && taken.collective()) taken.begun = publish(taken);
  if (first && taken.request.kind == Kind::kSend) advance_message(taken);
  forget_finished();
  return last_number_;
}

Operation* Engine::find(std::uint64_t number) {
  if (operations_.empty() || number < operations_.front().number) return nullptr;
  Operation& operation = operations_[number - operations_.front().number];
  return operation.finished ? nullptr : &operation;
}

void Engine::forget_finished() {
  while (!operations_.empty() && operations_.front().finished) operations_.pop_front();
}

bool Engine::advance(bool everything) {
  bool moved = false;
  bool publishing = true;
  std::ranges::fill(occupied_, 0);
  for (Operation& operation : operations_) {
    if (operation.finished) continue;
    const std::size_t queue = queue_of(operation);
    if (operation.collective() && !operation.begun && publishing)
      moved |= publishing = operation.begun = publish(operation);
    if (occupied_[queue] != 0) continue;
    moved |= operation.collective() ? advance_collective(operation, everything) : advance_message(operation);
    occupied_[queue] = operation.finished ? 0 : 1;
  }
  forget_finished();
  return moved;
}

/// An earlier operation that must be over before this one touches its memory.
const Operation* Engine::obstacle(const Operation& operation) const {
  for (const Operation& earlier : operations_) {
    if (earlier.number >= operation.number) return nullptr;
    const bool harmless = earlier.finished || (!earlier.writes() && !operation.writes());
    if (!harmless && earlier.overlaps(operation)) return &earlier;
  }
  return nullptr;
}

bool Engine::publish(Operation& operation) {
  if (obstacle(operation) != nullptr) return false;
  // The place of its descriptor, and its slot, are free when all are past the operation that had them before.
  if (operation.sequence > all_done_ + kInFlight) {
    if (!group_.everyone_reached(kDone, operation.sequence - kInFlight)) return false;
    all_done_ = operation.sequence - kInFlight;
  }
  group_.own().descriptors[operation.sequence % kInFlight] = {operation.request, operation.source};
  if (fits_slot({operation.request, operation.source})) put_into_slot(group_, operation);
  group_.count_up(kArrived, operation.sequence);
  return true;
}

bool Engine::advance_collective(Operation& operation, bool everything) {
  if (operation.way == Way::kUnknown) {
    if (!operation.begun || !group_.everyone_reached(kArrived, operation.sequence)) return false;
    meet(operation);
  }
  bool moved = true;
  if (operation.way == Way::kSlots) finish_in_slots(group_, operation);
  if (operation.way == Way::kInPlace) moved = advance_in_place(group_, operation, everything);
  if (operation.way == Way::kStaging) moved = advance_staged(group_, operation);
  if (operation.finished) group_.count_up(kDone, operation.sequence);
  return moved;
}

/// Registered memory pays from a smaller size on.
bool Engine::fits_slot(const Descriptor& descriptor) const {
  constexpr std::uint64_t kRegisteredPays = 4;
  const std::uint64_t bytes = descriptor.request.bytes() * (descriptor.place.registered() ? kRegisteredPays : 1);
  return bytes <= group_.layout().slot_bytes;
}

/// All have published it: do they want the same, and how is it done?
void Engine::meet(Operation& operation) {
  compare(operation);
  bool slots = true;
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    slots = slots && fits_slot(group_.of(member).descriptors[operation.sequence % kInFlight]);
  }
  if (slots) {
    operation.way = Way::kSlots;
  } else if (find_places(operation)) {
    operation.way = Way::kInPlace;
    prepare_in_place(group_, operation, settings_.chunk_bytes);
  } else {
    operation.way = Way::kStaging;
    prepare_staged(group_, operation);
  }
}

// Every member compares all descriptors in the same order, so all say the same.
void Engine::compare(const Operation& operation) {
  const auto request_of = [&](std::uint32_t member) -> const Request& {
    return group_.of(member).descriptors[operation.sequence % kInFlight].request;
  };
  const Request& first = request_of(0);
  for (std::uint32_t member = 1; member < group_.size(); ++member) {
    const Request& other = request_of(member);
    if (other == first) continue;
    const auto words = [&](const Request& request) { return words_of(request, settings_.ranks[request.root]); };
    const bool other_bounds = words(first) == words(other);
    fail(Code::kShapeMismatch,
         fmt::format("operation {}: {} asks for {}, {} for {}{}", operation.sequence, rank_name(0), words(first),
                     rank_name(member), words(other), other_bounds ? " with other bounds" : ""));
  }
}

/// False if it does not lie in registered memory at every member.
bool Engine::find_places(Operation& operation) {
  operation.places.clear();
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    const Place place = group_.of(member).descriptors[operation.sequence % kInFlight].place;
    std::byte* address = blocks_.address(member, place, operation.bytes());
    if (address == nullptr) return false;
    operation.places.push_back(address);
  }
  return true;
}

bool Engine::advance_message(Operation& operation) {
  if (!operation.begun && obstacle(operation) != nullptr) return false;
  if (operation.request.kind == Kind::kSend) return advance_send(group_, operation);
  try {
    return advance_recv(group_, blocks_, operation);
  } catch (const MessageMismatch& mismatch) {
    fail(Code::kShapeMismatch, fmt::format("message {} from {} to {} is a {}, but what is asked for is a {}",
                                           operation.sequence, rank_name(operation.peer), rank_name(group_.rank()),
                                           words_of(mismatch.sent, settings_.ranks[group_.rank()]),
                                           words_of(operation.request, settings_.ranks[operation.peer])));
  } catch (const Error& error) {
    fail(error.code(), error.what());
  }
}

}  // namespace trainyard::shared_memory
