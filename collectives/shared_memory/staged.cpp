// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "collectives/shared_memory/transfers.h"

// Operations on memory that the other members have not mapped. Every member's part is divided into pieces. Piece k of
// all parts is copied through buffer k % kBuffers of each member's staging memory, in three steps:
//
//   give  k   copy what others need of mine into my buffer
//   reduce k  combine my part, from my memory and the others' buffers, into my memory and my buffer
//   take  k   copy the others' results into my memory
//
// Steps are done in the order give 0, -, -, give 1, reduce 0, -, give 2, reduce 1, take 0, give 3, ... A step needs
// only data that the other members have written in the previous round of three steps, so members hardly ever wait. The
// buffers stay in the cache, and memory is read and written once.

namespace trainyard::shared_memory {
namespace {

constexpr std::uint64_t kBuffers = 4;
constexpr std::uint64_t kStepsPerRound = 3;
enum Step : std::uint64_t { kGive, kReduce, kTake };

/// Consecutive elements, and their place in a staging buffer.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;  ///< In bytes.
};

/// Returns the number of steps that a member has done when it has finished step `step` of piece `number`.
std::uint64_t after(Step step, std::uint64_t number) { return (number + step) * kStepsPerRound + step + 1; }

void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

class StagedTransfer final : public SharedTransfer {
 public:
  StagedTransfer(Group& group, const Operation& operation, Reduce reduce)
      : SharedTransfer(group, operation),
        shared_(group),
        reduce_(reduce),
        // The number is the same at all members, because all have done the same operations.
        first_step_(group.count(group.rank(), kSteps)) {
    const std::uint64_t sections = reduce != nullptr ? group.size() : 1;
    piece_elements_ = std::max<std::uint64_t>(1, buffer_bytes() / sections / element_bytes());
    std::uint64_t longest = 0;
    for (std::uint32_t member = 0; member < group.size(); ++member) {
      longest = std::max(longest, operation.bounds[member + 1] - operation.bounds[member]);
    }
    pieces_ = (longest + piece_elements_ - 1) / piece_elements_;
  }

  Progress advance(Effort) override {
    const std::uint64_t steps = (pieces_ + kStepsPerRound - 1) * kStepsPerRound;
    const std::uint64_t before = step_;
    while (step_ < steps && group_.everyone_reached(kSteps, steps_needed())) {
      do_step();
      shared_.count_up(kSteps, first_step_ + ++step_);
    }
    if (step_ == steps) return Progress::kFinished;
    return step_ != before ? Progress::kSome : Progress::kNothing;
  }

  Need need() const override { return {kSteps, steps_needed()}; }

 private:
  std::size_t element_bytes() const { return size_of(operation_.data.dtype); }
  std::uint64_t buffer_bytes() const { return group_.layout().staging_bytes / kBuffers; }
  std::byte* buffer_of(std::uint32_t member, std::uint64_t number) const {
    return group_.staging(member) + number % kBuffers * buffer_bytes();
  }
  /// Returns the number of the piece on which the current step works. If the step has no piece, the number is at least
  /// pieces_.
  std::uint64_t piece_number() const { return step_ / kStepsPerRound - step_ % kStepsPerRound; }

  /// Returns piece `number` of the part of member `owner`.
  Piece piece_of(std::uint32_t owner, std::uint64_t number) const {
    const std::uint64_t end = operation_.bounds[owner + 1];
    const std::uint64_t first = std::min(end, operation_.bounds[owner] + number * piece_elements_);
    Piece piece{first, std::min(piece_elements_, end - first), 0};
    if (reduce_ != nullptr) piece.offset = owner * piece_elements_ * element_bytes();
    return piece;
  }

  // Returns the number of steps that all members must have done before this member can do its current step. The first
  // piece must wait, too, because other members may still read the buffers for the previous operation.
  std::uint64_t steps_needed() const {
    const std::uint64_t number = piece_number();
    if (number >= pieces_) return first_step_;
    switch (step_ % kStepsPerRound) {
      case kGive:
        return first_step_ + (number < kBuffers ? 0 : after(kTake, number - kBuffers));
      case kReduce:
        return first_step_ + (reduce_ != nullptr ? after(kGive, number) : 0);
      default:
        return first_step_ + (operation_.gathers() ? after(reduce_ != nullptr ? kReduce : kGive, number) : 0);
    }
  }

  void do_step() const {
    const std::uint64_t number = piece_number();
    if (number >= pieces_) return;
    switch (step_ % kStepsPerRound) {
      case kGive:
        return give(number);
      case kReduce:
        if (reduce_ != nullptr) reduce(number);
        return;
      default:
        if (operation_.gathers()) take(number);
    }
  }

  void give(std::uint64_t number) const {
    for (std::uint32_t owner = 0; owner < group_.size(); ++owner) {
      // In a reduction, each other member needs this member's elements of its part; otherwise all members need this
      // member's own part.
      if ((owner == group_.rank()) == (reduce_ != nullptr)) continue;
      const Piece piece = piece_of(owner, number);
      copy_bytes(buffer_of(group_.rank(), number) + piece.offset, operation_.at(piece.first),
                 piece.count * element_bytes());
    }
  }

  void reduce(std::uint64_t number) const {
    const Piece piece = piece_of(group_.rank(), number);
    if (piece.count == 0) return;
    std::byte* mine = operation_.at(piece.first);
    std::vector<const void*> inputs;
    inputs.reserve(group_.size());
    for (std::uint32_t member = 0; member < group_.size(); ++member) {
      inputs.push_back(member == group_.rank() ? mine : buffer_of(member, number) + piece.offset);
    }
    void* outputs[2] = {mine, buffer_of(group_.rank(), number) + piece.offset};
    reduce_(inputs.data(), inputs.size(), outputs, operation_.gathers() ? 2 : 1, piece.count);
  }

  void take(std::uint64_t number) const {
    for (std::uint32_t owner = 0; owner < group_.size(); ++owner) {
      if (owner == group_.rank()) continue;
      const Piece piece = piece_of(owner, number);
      copy_bytes(operation_.at(piece.first), buffer_of(owner, number) + piece.offset, piece.count * element_bytes());
    }
  }

  Group& shared_;
  const Reduce reduce_;
  const std::uint64_t first_step_;
  std::uint64_t step_ = 0;
  std::uint64_t piece_elements_ = 0;  ///< The number of elements of a piece.
  std::uint64_t pieces_ = 0;
};

}  // namespace

std::unique_ptr<Transfer> make_staged_transfer(Group& group, const Operation& operation, Reduce reduce) {
  return std::make_unique<StagedTransfer>(group, operation, reduce);
}

}  // namespace trainyard::shared_memory
