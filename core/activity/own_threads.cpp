// SPDX-License-Identifier: Apache-2.0
#include "core/activity/own_threads.h"

#include <algorithm>

#include "core/activity/loop_activity.h"

namespace trainyard::core {
namespace {

/// Stands for a time that was not measured, because the accounting was off when the work began.
constexpr std::int64_t kUnknown = 1;

}  // namespace

OwnThreads::OwnThreads(LoopActivity& activity, const Component& component, std::size_t threads)
    : activity_(activity), component_(component), threads_(threads) {
  activity_.join(*this);
}

OwnThreads::~OwnThreads() { activity_.leave(*this); }

bool OwnThreads::recorded() const { return activity_.spans().on(); }

// If a thread began to work before the accounting began, its time counts from the beginning of the accounting.
std::int64_t OwnThreads::busy_ns(std::int64_t now) const {
  const std::uint64_t epoch = activity_.epoch_.number.load(std::memory_order_acquire);
  const std::int64_t began = activity_.epoch_.began_ns.load(std::memory_order_relaxed);
  std::int64_t sum = 0;
  for (const Thread& thread : threads_) {
    std::int64_t ns = 0;
    thread.published.read([&] {
      ns = thread.epoch.get() == epoch ? thread.ns.get() : 0;
      if (const std::int64_t since = thread.since.get()) ns += std::max<std::int64_t>(now - std::max(since, began), 0);
    });
    sum += ns;
  }
  return threads_.empty() ? 0 : sum / static_cast<std::int64_t>(threads_.size());
}

OwnThreads::Busy::Busy(OwnThreads* owner, std::size_t thread) : owner_(owner) {
  if (owner_ == nullptr) return;
  thread_ = &owner_->threads_.at(thread);
  thread_->since.set(owner_->activity_.on() ? LoopActivity::now_ns() : kUnknown);
}

OwnThreads::Busy::~Busy() {
  if (owner_ == nullptr) return;
  const LoopActivity& activity = owner_->activity_;
  const Published::Change change(thread_->published);
  if (activity.on()) {
    const std::uint64_t epoch = activity.epoch_.number.load(std::memory_order_acquire);
    if (thread_->epoch.get() != epoch) thread_->ns.set(0);
    thread_->epoch.set(epoch);
    const std::int64_t began = activity.epoch_.began_ns.load(std::memory_order_relaxed);
    thread_->ns.add(std::max<std::int64_t>(LoopActivity::now_ns() - std::max(thread_->since.get(), began), 0));
  }
  thread_->since.set(0);
}

}  // namespace trainyard::core
