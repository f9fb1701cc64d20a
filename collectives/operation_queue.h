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
  kQueued,     ///< Only this member knows about it.
  kAnnounced,  ///< The other members have been told about it.
  kAgreed,     ///< All members have called the same operation, and elements are being transferred.
  kFinished,
};

/// An operation with its stage and, once it has begun, its transfer.
struct QueuedOperation {
  Operation operation;
  std::unique_ptr<Transfer> transfer = nullptr;
  Stage stage = Stage::kQueued;

  bool is_finished() const { return stage == Stage::kFinished; }
};

/// The unfinished operations of one member, in the order of the calls. The operations of the group form one lane; the
/// messages to each member and those from each member form further lanes. The operations of a lane are carried out one
/// after another. An operation that uses memory of an earlier one waits for that one, whatever their lanes.
class OperationQueue {
 public:
  explicit OperationQueue(std::uint32_t members) : last_orders_(1 + 2 * members), members_(members) {}

  /// Numbers the operation and adds it.
  QueuedOperation& push(Operation&& operation);

  /// Returns the operation, or null if it is finished.
  QueuedOperation* find(std::uint64_t number);

  /// Returns true if this operation is the next one of its lane to begin: all earlier ones of the group have been
  /// announced, or all earlier messages of the lane are finished.
  bool is_next(const QueuedOperation& queued) const;
  /// Returns an earlier operation that must be finished before this one may access its memory, or null if there is
  /// none.
  const QueuedOperation* obstacle(const Operation& operation) const;
  /// Returns the unfinished operation that holds up `queued`: the first one of its lane, or the one that uses memory
  /// which that first one needs.
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
  std::deque<QueuedOperation> operations_;  ///< Ascending by number, without a gap.
  std::vector<std::uint64_t> last_orders_;  ///< Indexed by lane.
  std::uint64_t last_number_ = 0;
  std::uint32_t members_;
};

}  // namespace trainyard::collectives
