// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/order_queue.h"

#include <algorithm>
#include <utility>

namespace trainyard::host {

std::shared_ptr<const Order> OrderQueue::pop() {
  const std::shared_ptr<const Order> order = std::move(orders_.front());
  orders_.pop_front();
  return order;
}

std::shared_ptr<const Order> OrderQueue::pop_stop() {
  const auto stop = std::ranges::find(orders_, OrderKind::kStop, [](const auto& order) { return order->kind; });
  if (stop == orders_.end()) return nullptr;
  orders_.erase(orders_.begin(), stop);
  return pop();
}

bool OrderQueue::offer(ReceivedBatch received) {
  if (closed_ || received.batch->order <= finished_) return false;
  received_ = std::move(received);
  return true;
}

void OrderQueue::finished(std::uint64_t order) {
  finished_ = order;
  if (has_batch() && received_.batch->order <= finished_) received_ = {};
}

void OrderQueue::regulate_batches() {
  if (has_batch()) {
    batches_.pause();
  } else {
    batches_.resume();
  }
}

void OrderQueue::close() {
  closed_ = true;
  orders_.clear();
  received_ = {};
  batches_.resume();
}

}  // namespace trainyard::host
