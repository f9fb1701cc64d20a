// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/prefetcher.h"

#include <algorithm>
#include <utility>

#include "core/spans/span_scope.h"
#include "messages/error.h"

namespace trainyard {

Prefetcher::Prefetcher(const SampleReader& reader, const BatchLayout& layout, core::SharedPool& pool, std::size_t slots,
                       std::size_t workers, std::function<void()> wake, core::OwnThreads* activity)
    : reader_(reader), layout_(layout), pool_(pool), wake_(std::move(wake)), activity_(activity), slots_(slots) {
  for (std::size_t i = 0; i < workers; ++i) {
    workers_.emplace_back([this, i](const std::stop_token& stop) { work(stop, i); });
  }
}

void Prefetcher::push(const Job& job) {
  Slot& target = slot(pushed_++);
  target.job = job;
  target.error = nullptr;
  target.discarded.store(false, std::memory_order_relaxed);
  target.done.store(false, std::memory_order_relaxed);
}

void Prefetcher::publish() {
  if (workers_.empty()) return;
  std::size_t to_wake = 0;
  {
    const std::lock_guard lock(mutex_);
    published_ = pushed_;
    to_wake = std::min<std::size_t>(idle_, published_ - claimed_);
  }
  for (; to_wake > 0; --to_wake) changed_.notify_one();
}

Prefetcher::Slot* Prefetcher::head() {
  if (!skip_discarded() || popped_ == pushed_) return nullptr;
  Slot& oldest = slot(popped_);
  if (workers_.empty()) fill(oldest, own_scratch_, {});
  return is_done(oldest) ? &oldest : nullptr;
}

/// The owner sets `waited_for_` before it checks `done` again, and a worker reads `waited_for_` after it has set
/// `done`. So either the owner sees that the job is done, or the worker sees that it must call `wake`.
bool Prefetcher::is_done(Slot& slot) {
  if (slot.done.load(std::memory_order_acquire)) return true;
  waited_for_.store(true);
  if (!slot.done.load()) return false;
  waited_for_.store(false, std::memory_order_relaxed);
  return true;
}

bool Prefetcher::skip_discarded() {
  while (popped_ != pushed_ && slot(popped_).discarded.load(std::memory_order_relaxed)) {
    if (!workers_.empty() && !is_done(slot(popped_))) return false;
    pop();
  }
  return true;
}

void Prefetcher::pop() { slot(popped_++).buffer = {}; }

void Prefetcher::discard(std::uint64_t count) {
  for (std::uint64_t job = pushed_ - std::min(count, pushed_ - popped_); job != pushed_; ++job) {
    slot(job).discarded.store(true, std::memory_order_relaxed);
  }
}

void Prefetcher::work(const std::stop_token& stop, std::size_t number) {
  Scratch scratch;
  scratch.worker = static_cast<std::uint32_t>(number) + 1;
  while (true) {
    std::unique_lock lock(mutex_);
    ++idle_;
    const bool any = changed_.wait(lock, stop, [this] { return claimed_ < published_; });
    --idle_;
    if (!any || stop.stop_requested()) return;
    Slot& claimed = slot(claimed_++);
    lock.unlock();
    {
      const core::OwnThreads::Busy busy(activity_, number);
      fill(claimed, scratch, stop);
    }
    if (waited_for_.load() && waited_for_.exchange(false)) wake_();
  }
}

/// Only stores when the batch was read. The owner records these times for `trainyard trace` when it sends the batch,
/// because the batch gets its number only then.
void Prefetcher::fill(Slot& slot, Scratch& scratch, const std::stop_token& stop) const {
  slot.worker = scratch.worker;
  slot.read_began_ns = records_spans() ? core::span_clock_ns() : 0;
  try {
    read(slot, scratch, stop);
  } catch (...) {
    slot.error = std::current_exception();
  }
  slot.read_ended_ns = slot.read_began_ns == 0 ? 0 : core::span_clock_ns();
  slot.done.store(true);
}

bool Prefetcher::records_spans() const { return activity_ == nullptr ? core::records_spans() : activity_->recorded(); }

/// If there is not enough memory, the error also names the batch size, which the user can change.
Buffer Prefetcher::allocate(const Job& job, std::uint64_t rows) const {
  const std::size_t bytes = layout_.bytes(rows);
  try {
    return pool_.allocate(bytes);
  } catch (const Error& error) {
    throw Error(error.code(),
                "{}: a batch of {} samples of '{}' takes {} bytes, and {} batches are read ahead; a smaller batch_size "
                "or prefetch takes less",
                error.what(), rows, job.plan->split(), bytes, slots_.size());
  }
}

void Prefetcher::read(Slot& slot, Scratch& scratch, const std::stop_token& stop) const {
  const Job& job = slot.job;
  if (slot.discarded.load(std::memory_order_relaxed)) return;
  job.plan->samples_of(job.place, scratch.samples);
  const std::uint64_t rows = scratch.samples.size();
  if (rows == 0) return;  // Only other ranks have samples left in this epoch, so the batch of this rank is empty.
  slot.buffer = allocate(job, rows);
  scratch.fields.clear();
  std::byte* start = slot.buffer.data();
  for (std::size_t field = 0; field < layout_.fields().size(); ++field) {
    scratch.fields.emplace_back(start, layout_.fields()[field].sample_bytes);
    start += layout_.field_bytes(field, rows);
  }
  for (const std::uint64_t sample : scratch.samples) {
    if (slot.discarded.load(std::memory_order_relaxed) || stop.stop_requested()) return;
    reader_.read({job.plan->split(), sample, job.place.epoch, job.plan->random_transforms()}, scratch.fields,
                 scratch.reader);
    for (std::span<std::byte>& field : scratch.fields) field = {field.data() + field.size(), field.size()};
  }
}

}  // namespace trainyard
