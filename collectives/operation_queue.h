// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "collectives/operation.h"
#include "collectives/transport.h"

namespace trainyard::collectives {

/// The stages through which an operation goes, in this order. Messages (send and recv) skip kAnnounced.
enum class Stage : std::uint8_t {
  kQueued,     ///< The operation has not been announced to the other members.
  kAnnounced,  ///< The operation has been announced, but not all members are known to have called it.
  kAgreed,     ///< All members have called the same operation, or a message has begun. The data is being transferred.
  kFinished,
};

/// An operation with its stage and its transfer, which is null until the transfer has begun.
struct QueuedOperation {
  Operation operation;
  std::unique_ptr<Transfer> transfer = nullptr;
  Stage stage = Stage::kQueued;

  bool is_finished() const { return stage == Stage::kFinished; }
};

/// The unfinished operations of one member, in the order of the calls. (A finished operation can stay in the queue
/// until all earlier ones are finished; see forget_finished().) Operations that must be carried out one after another
/// form a lane: all collective operations are one lane, and there is one lane for the sends to each other member and
/// one for the receives from each other member. Operations of different lanes are independent, except that an operation
/// waits for an earlier one that uses the same memory, unless both only read it.
class OperationQueue {
 public:
  explicit OperationQueue(std::uint32_t members) : last_orders_(1 + 2 * members), members_(members) {}

  /// Sets Operation::number and Operation::order, adds the operation to the queue, and returns the entry.
  QueuedOperation& push(Operation&& operation);

  /// Returns the operation with this number, or null if it is finished.
  QueuedOperation* find(std::uint64_t number);

  /// Returns true if this operation is the next one of its lane to begin. A collective operation may begin when all
  /// earlier ones have been announced to the other members, and a message when all earlier messages of its lane are
  /// finished.
  bool is_next(const QueuedOperation& queued) const;
  /// Returns an earlier operation that must be finished before `operation` may access its memory, or null if there is
  /// none.
  const QueuedOperation* obstacle(const Operation& operation) const;
  /// Returns the unfinished operation that must make progress before `queued` can. This is the first unfinished
  /// operation of the same lane, which can be `queued` itself. But if this first operation must wait for an operation
  /// of another lane (see obstacle()), the function returns whatever holds up that other operation.
  const QueuedOperation& held_up_by(const QueuedOperation& queued) const;
  /// Returns the first unfinished collective operation, or null if there is none.
  const QueuedOperation* first_of_group() const;

  std::size_t lanes() const { return last_orders_.size(); }
  std::size_t lane_of(const Operation& operation) const;

  /// Removes the finished operations at the front. A finished operation behind an unfinished one stays.
  void forget_finished();
  void clear() { operations_.clear(); }
  bool empty() const { return operations_.empty(); }
  auto begin() { return operations_.begin(); }
  auto end() { return operations_.end(); }

 private:
  std::deque<QueuedOperation> operations_;  ///< In ascending order of their numbers, without gaps.
  std::vector<std::uint64_t> last_orders_;  ///< The latest Operation::order of each lane.
  std::uint64_t last_number_ = 0;
  std::uint32_t members_;
};

}  // namespace trainyard::collectives
