// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "collectives/operation.h"
#include "collectives/transport.h"

namespace trainyard::collectives {

/// The stages of an operation, in this order. A message skips kAnnounced.
enum class Stage : std::uint8_t {
  kQueued,     ///< The operation has not been announced to the other members.
  kAnnounced,  ///< The operation has been announced, but not all members are known to have called it.
  kAgreed,     ///< All members have called the same operation, or a message has begun. Elements are being transferred.
  kFinished,
};

/// An operation with its stage and its transfer, which is null until the transfer has begun.
struct QueuedOperation {
  Operation operation;
  std::unique_ptr<Transfer> transfer = nullptr;
  Stage stage = Stage::kQueued;

  bool is_finished() const { return stage == Stage::kFinished; }
};

/// The unfinished operations of one member, in the order of the calls. The operations of the group form one lane. The
/// messages to each member form another lane, and so do the messages from each member. The operations of a lane are
/// carried out one after another. An operation also waits for an earlier operation in another lane that uses the same
/// memory, unless both only read it.
class OperationQueue {
 public:
  explicit OperationQueue(std::uint32_t members) : last_orders_(1 + 2 * members), members_(members) {}

  /// Sets the number and the order of the operation, adds the operation to the queue, and returns the entry.
  QueuedOperation& push(Operation&& operation);

  /// Returns the operation with this number, or null if it is finished.
  QueuedOperation* find(std::uint64_t number);

  /// Returns true if this operation is the next one of its lane to begin. For an operation of the group, this means
  /// that all earlier operations of the group have been announced. For a message, it means that all earlier messages of
  /// its lane are finished.
  bool is_next(const QueuedOperation& queued) const;
  /// Returns an earlier operation that must be finished before `operation` may access its memory, or null if there is
  /// none.
  const QueuedOperation* obstacle(const Operation& operation) const;
  /// Returns the unfinished operation that holds up `queued`. Normally this is the first unfinished operation of the
  /// same lane, which can be `queued` itself. If that operation cannot begin because an earlier operation uses its
  /// memory, the function returns the result of held_up_by() for that earlier operation.
  const QueuedOperation& held_up_by(const QueuedOperation& queued) const;
  /// Returns the first unfinished operation of the group, or null if there is none.
  const QueuedOperation* first_of_group() const;

  std::size_t lanes() const { return last_orders_.size(); }
  std::size_t lane_of(const Operation& operation) const;

  /// Removes finished operations from the front.
  void forget_finished();
  void clear() { operations_.clear(); }
  bool empty() const { return operations_.empty(); }
  auto begin() { return operations_.begin(); }
  auto end() { return operations_.end(); }

 private:
  std::deque<QueuedOperation> operations_;  ///< The operations, in ascending order of their numbers, without gaps.
  std::vector<std::uint64_t> last_orders_;  ///< The latest Operation::order of each lane.
  std::uint64_t last_number_ = 0;
  std::uint32_t members_;
};

}  // namespace trainyard::collectives
