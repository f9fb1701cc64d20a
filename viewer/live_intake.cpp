// SPDX-License-Identifier: Apache-2.0
#include "viewer/live_intake.h"

namespace trainyard::viewer {
namespace {

constexpr std::size_t kSliceBytes = 1u << 20;
/// The largest number of messages that are held back. Further messages are dropped, but the file contains them, too.
constexpr std::size_t kMaxWaiting = 100'000;

}  // namespace

LiveIntake::LiveIntake(const Identity& identity, Book& book, LiveAlerts& alerts)
    : book_(book),
      alerts_(alerts),
      metrics_(identity.directory + "/metrics.jsonl", identity.started_ns),
      insights_(identity.directory + "/insights.jsonl", identity.started_ns) {}

template <class T>
void LiveIntake::in_turn(const T& message) {
  if (caught_up_) {
    enter(message);
  } else if (waiting_.size() < kMaxWaiting) {
    waiting_.push_back([this, message] { enter(message); });
  }
}

void LiveIntake::take(const Metrics& metrics) { in_turn(metrics); }
void LiveIntake::take(const LogRecord& record) { in_turn(record); }

void LiveIntake::enter(const Metrics& metrics) {
  if (book_.add(metrics)) alerts_.see(metrics);
  if (book_.read(&Shelves::phase) == RunPhase::kStarting) book_.set_phase(RunPhase::kRunning);
}

void LiveIntake::catch_up() {
  if (read_files([this](const Metrics& metrics) { alerts_.see_past(metrics); })) return;
  caught_up_ = true;
  enter_waiting();
}

bool LiveIntake::read_files() {
  return read_files([this](const Metrics& metrics) { alerts_.see(metrics); });
}

bool LiveIntake::read_files(const RunFile::OnMetrics& on_metrics) {
  return metrics_.read(kSliceBytes, book_, on_metrics) || insights_.read(kSliceBytes, book_);
}

void LiveIntake::finish() {
  while (read_files()) {
  }
  enter_waiting();
}

void LiveIntake::enter_waiting() {
  for (const auto& enter : waiting_) enter();
  waiting_.clear();
}

}  // namespace trainyard::viewer
