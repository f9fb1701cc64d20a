// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/background_writer.h"

#include <exception>
#include <utility>

#include "core/spans/span_scope.h"

namespace trainyard {

BackgroundWriter::BackgroundWriter(CheckpointStore& store, std::function<void()> notify, core::OwnThreads* activity)
    : store_(store),
      notify_(std::move(notify)),
      activity_(activity),
      thread_([this](std::stop_token stop) { run(stop); }) {}

// Waits until all submitted checkpoints have been written. Without this, the stop request would leave some unwritten.
BackgroundWriter::~BackgroundWriter() {
  wait_until_idle();
  thread_.request_stop();
}

void BackgroundWriter::submit(std::unique_ptr<StateCopy> state) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(state));
  // Both the writer, for work, and wait_until_idle() wait on this condition variable, so all waiters are notified.
  changed_.notify_all();
}

std::vector<BackgroundWriter::Finished> BackgroundWriter::take_finished() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

void BackgroundWriter::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !writing_; });
}

void BackgroundWriter::run(std::stop_token stop) {
  // The lock is not held while a checkpoint is written, so submit() and take_finished() never wait for the disk.
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    std::unique_ptr<StateCopy> state = std::move(waiting_.front());
    waiting_.pop_front();
    writing_ = true;
    lock.unlock();
    Finished finished = write(std::move(state));
    lock.lock();
    finished_.push_back(std::move(finished));
    lock.unlock();
    // Called before the thread counts as idle, because a caller of wait_until_idle() may then destroy objects that
    // `notify_` uses.
    notify_();
    lock.lock();
    writing_ = false;
    changed_.notify_all();
  }
}

BackgroundWriter::Finished BackgroundWriter::write(std::unique_ptr<StateCopy> state) {
  const core::OwnThreads::Busy busy(activity_, 0);
  Finished finished{.state = std::move(state), .began_ns = core::span_clock_ns()};
  try {
    finished.written = store_.write(*finished.state);
    // An exception must not leave the thread. It is passed on as a text.
  } catch (const std::exception& error) {
    finished.error = error.what();
  }
  finished.ended_ns = core::span_clock_ns();
  finished.seconds = static_cast<double>(finished.ended_ns - finished.began_ns) * 1e-9;
  return finished;
}

}  // namespace trainyard
