// SPDX-License-Identifier: Apache-2.0
// Measures the processor time that a component takes to hand the messages of a step to another thread, such as the
// gateway, which sleeps in between: without a reader, with a reader that is woken for every message, and with a reader
// that pauses between two rounds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "core/edge/queue_edge.h"
#include "core/testing/pipe.h"

namespace trainyard::core {
namespace {

constexpr int kRounds = 11;
constexpr int kSteps = 1000;
constexpr int kMessagesPerStep = 4;
/// The time of a step of a small model.
constexpr std::chrono::microseconds kStep{350};
constexpr std::chrono::milliseconds kRest{2};

enum class Reader { kNone, kWoken, kResting };

/// Returns the processor time of this thread, which other programs on the machine disturb less than the time of day.
double thread_time_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void compute_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Returns the processor time that the sender takes for the messages of one step.
double measure(Reader reader) {
  testing::Pipe pipe;
  EventLoop other("reader");
  testing::Sink sink(testing::Pipe::context("sink", other));
  pipe.activate();
  sink.transition(State::kInactive);
  sink.transition(State::kActive);
  Collector collector(other, kRest);
  other.add(collector);
  QueueEdge edge(pipe.source.out, sink.in, pipe.loop, other, 0, Policy::kDropOldest, 64, 32u << 20);
  if (reader == Reader::kResting) edge.collect_with(collector);
  if (reader == Reader::kWoken) other.add(edge.message_source());
  pipe.loop.add(edge.credit_source());
  if (reader != Reader::kNone) pipe.source.out.add_edge(edge);
  std::jthread thread([&] { other.run(); });
  double time = 0;
  for (int step = 0; step < kSteps; ++step) {
    compute_for(kStep);
    const double begin = thread_time_ns();
    for (int i = 0; i < kMessagesPerStep; ++i) pipe.source.out.send(pipe.source.out.loan());
    pipe.loop.run_once();
    time += thread_time_ns() - begin;
  }
  other.stop();
  thread.join();
  return time / kSteps;
}

void report(const std::string& name, Reader reader) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) times.push_back(measure(reader));
  std::ranges::nth_element(times, times.begin() + kRounds / 2);
  fmt::print("{{\"name\": \"{}\", \"median_ns\": {:.0f}}}\n", name, times[kRounds / 2]);
}

void run_all() {
  report("messages of a step without a reader", Reader::kNone);
  report("messages of a step to a reader that is woken", Reader::kWoken);
  report("messages of a step to a reader that rests", Reader::kResting);
}

}  // namespace
}  // namespace trainyard::core

int main() { trainyard::core::run_all(); }
