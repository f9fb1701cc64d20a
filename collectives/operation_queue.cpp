// SPDX-License-Identifier: Apache-2.0
#include "collectives/operation_queue.h"

#include <algorithm>

namespace trainyard::collectives {

QueuedOperation& OperationQueue::push(Operation&& operation) {
  operation.number = ++last_number_;
  operation.order = ++last_orders_[lane_of(operation)];
  QueuedOperation& queued = operations_.emplace_back();
  queued.operation = std::move(operation);
  return queued;
}

QueuedOperation* OperationQueue::find(std::uint64_t number) {
  if (operations_.empty() || number < operations_.front().operation.number) return nullptr;
  QueuedOperation& queued = operations_[number - operations_.front().operation.number];
  return queued.is_finished() ? nullptr : &queued;
}

std::size_t OperationQueue::lane_of(const Operation& operation) const {
  if (!operation.is_message()) return 0;
  return 1 + operation.request.member + (operation.request.kind == OperationKind::kRecv ? members_ : 0);
}

bool OperationQueue::is_next(const QueuedOperation& queued) const {
  const std::size_t lane = lane_of(queued.operation);
  for (const QueuedOperation& earlier : operations_) {
    if (&earlier == &queued) return true;
    if (lane_of(earlier.operation) != lane) continue;
    if (queued.operation.is_message() ? !earlier.is_finished() : earlier.stage == Stage::kQueued) return false;
  }
  return true;
}

const QueuedOperation* OperationQueue::obstacle(const Operation& operation) const {
  for (const QueuedOperation& earlier : operations_) {
    if (earlier.operation.number >= operation.number) return nullptr;
    const bool harmless = earlier.is_finished() || (!earlier.operation.writes() && !operation.writes());
    if (!harmless && earlier.operation.overlaps(operation)) return &earlier;
  }
  return nullptr;
}

const QueuedOperation& OperationQueue::held_up_by(const QueuedOperation& queued) const {
  const std::size_t lane = lane_of(queued.operation);
  const auto head = std::ranges::find_if(operations_, [&](const QueuedOperation& other) {
    return !other.is_finished() && lane_of(other.operation) == lane;
  });
  const QueuedOperation* before = head->stage == Stage::kQueued ? obstacle(head->operation) : nullptr;
  return before == nullptr ? *head : held_up_by(*before);
}

const QueuedOperation* OperationQueue::first_of_group() const {
  const auto first = std::ranges::find_if(operations_, [](const QueuedOperation& queued) {
    return !queued.is_finished() && !queued.operation.is_message();
  });
  return first == operations_.end() ? nullptr : &*first;
}

void OperationQueue::forget_finished() {
  while (!operations_.empty() && operations_.front().is_finished()) operations_.pop_front();
}

}  // namespace trainyard::collectives
