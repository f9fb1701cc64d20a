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

bool OrderQueue::offer(const std::shared_ptr<const Batch>& batch) {
  if (closed_ || batch->order <= finished_) return false;
  batch_ = batch;
  return true;
}

void OrderQueue::finished(std::uint64_t order) {
  finished_ = order;
  if (batch_ && batch_->order <= finished_) batch_.reset();
}

void OrderQueue::regulate_batches() {
  if (batch_) {
    batches_.pause();
  } else {
    batches_.resume();
  }
}

void OrderQueue::close() {
  closed_ = true;
  orders_.clear();
  batch_.reset();
  batches_.resume();
}

}  // namespace trainyard::host
