#include <algorithm>
#include <cstring>

#include "collectives/shared_memory/ways.h"

// Operations on memory that the others cannot reach. Every member's part is cut into pieces. Piece k of all parts goes
// through buffer k % kBuffers of each member's staging memory, in three steps:
//
//   give  k  copy what others need of mine into my buffer
//   reduce k combine my part, from my memory and the others' buffers, into my memory and my buffer
//   take  k  copy the others' results into my memory
//
// Steps are done in the order give 0, -, -, give 1, reduce 0, -, give 2, reduce 1, take 0, give 3, ...: what a step
// needs of the others was their business a round ago, so hardly anybody waits. The buffers stay in the cache; memory is
// read and written once.

namespace trainyard::shared_memory {
namespace {

constexpr std::uint64_t kBuffers = 4;
constexpr std::uint64_t kStepsPerRound = 3;
enum Step : std::uint64_t { kGive, kReduce, kTake };

/// A run of elements, and where it lies in the staging buffer of whoever has it there.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;  ///< In bytes.
};

/// Piece `number` of member `owner`'s part.
Piece piece_of(const Operation& operation, std::uint32_t owner, std::uint64_t number) {
  const std::uint64_t end = operation.bounds[owner + 1];
  const std::uint64_t first = std::min(end, operation.bounds[owner] + number * operation.piece_elements);
  Piece piece{first, std::min(operation.piece_elements, end - first), 0};
  if (operation.reduces()) piece.offset = owner * operation.piece_elements * operation.element_bytes();
  return piece;
}

std::byte* buffer_of(const Group& group, std::uint32_t member, std::uint64_t number) {
  return group.staging(member) + number % kBuffers * (group.layout().staging_bytes / kBuffers);
}

void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void give(const Group& group, const Operation& operation, std::uint64_t number) {
  for (std::uint32_t owner = 0; owner < group.size(); ++owner) {
    // Of a reduction others need their parts of mine; else they need my own part.
    if ((owner == group.rank()) == operation.reduces()) continue;
    const Piece piece = piece_of(operation, owner, number);
    copy_bytes(buffer_of(group, group.rank(), number) + piece.offset,
               operation.data + piece.first * operation.element_bytes(), piece.count * operation.element_bytes());
  }
}

void reduce(const Group& group, const Operation& operation, std::uint64_t number) {
  const Piece piece = piece_of(operation, group.rank(), number);
  if (piece.count == 0) return;
  std::byte* mine = operation.data + piece.first * operation.element_bytes();
  std::vector<const void*> inputs;
  for (std::uint32_t member = 0; member < group.size(); ++member) {
    inputs.push_back(member == group.rank() ? mine : buffer_of(group, member, number) + piece.offset);
  }
  void* outputs[2] = {mine, buffer_of(group, group.rank(), number) + piece.offset};
  operation.reduce(inputs.data(), inputs.size(), outputs, operation.gathers() ? 2 : 1, piece.count);
}

void take(const Group& group, const Operation& operation, std::uint64_t number) {
  for (std::uint32_t owner = 0; owner < group.size(); ++owner) {
    if (owner == group.rank()) continue;
    const Piece piece = piece_of(operation, owner, number);
    copy_bytes(operation.data + piece.first * operation.element_bytes(), buffer_of(group, owner, number) + piece.offset,
               piece.count * operation.element_bytes());
  }
}

/// The number of the piece that a step works on, if there is such a piece; else operation.pieces or more.
std::uint64_t piece_number(std::uint64_t step) { return step / kStepsPerRound - step % kStepsPerRound; }

void do_step(const Group& group, const Operation& operation) {
  const std::uint64_t number = piece_number(operation.step);
  if (number >= operation.pieces) return;
  switch (operation.step % kStepsPerRound) {
    case kGive:
      return give(group, operation, number);
    case kReduce:
      if (operation.reduces()) reduce(group, operation, number);
      return;
    case kTake:
      if (operation.gathers()) take(group, operation, number);
      return;
  }
}

/// How many steps of `step`'s number must be over in each member.
std::uint64_t after(Step step, std::uint64_t number) { return (number + step) * kStepsPerRound + step + 1; }

}  // namespace

void prepare_staged(const Group& group, Operation& operation) {
  const std::uint64_t buffer = group.layout().staging_bytes / kBuffers;
  const std::uint64_t sections = operation.reduces() ? group.size() : 1;
  operation.piece_elements = std::max<std::uint64_t>(1, buffer / sections / operation.element_bytes());
  std::uint64_t longest = 0;
  for (std::uint32_t member = 0; member < group.size(); ++member) {
    longest = std::max(longest, operation.bounds[member + 1] - operation.bounds[member]);
  }
  operation.pieces = (longest + operation.piece_elements - 1) / operation.piece_elements;
  // All members have done the same operations, so all count from the same number.
  operation.first_step = group.count(group.rank(), kSteps);
}

// Of the first piece: the buffers may still be read for the operation before.
std::uint64_t steps_needed(const Group&, const Operation& operation) {
  const std::uint64_t number = piece_number(operation.step);
  std::uint64_t needed = 0;
  if (number < operation.pieces) {
    switch (operation.step % kStepsPerRound) {
      case kGive:
        needed = number < kBuffers ? 0 : after(kTake, number - kBuffers);
        break;
      case kReduce:
        needed = operation.reduces() ? after(kGive, number) : 0;
        break;
      case kTake:
        needed = operation.gathers() ? after(operation.reduces() ? kReduce : kGive, number) : 0;
        break;
    }
  }
  return operation.first_step + needed;
}

bool advance_staged(Group& group, Operation& operation) {
  const std::uint64_t steps = (operation.pieces + kStepsPerRound - 1) * kStepsPerRound;
  const std::uint64_t before = operation.step;
  while (operation.step < steps && group.everyone_reached(kSteps, steps_needed(group, operation))) {
    do_step(group, operation);
    group.count_up(kSteps, operation.first_step + ++operation.step);
  }
  operation.finished = operation.step == steps;
  return operation.step != before || operation.finished;
}

}  // namespace trainyard::shared_memory
