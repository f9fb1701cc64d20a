// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace trainyard {

/// A meter for the number of units, such as samples or tokens, that are trained on per second. Time for evaluations and
/// checkpoints does not count.
class Throughput {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins to count time at `now`. Does nothing if time is already being counted.
  void resume(Clock::time_point now) {
    if (!running_) since_ = now;
    running_ = true;
  }

  /// Stops counting time at `now`. Does nothing if time is not being counted.
  void pause(Clock::time_point now) {
    if (running_) spent_ += now - since_;
    running_ = false;
  }

  void add(std::uint64_t units) { units_ += units; }

  /// Returns the units per second since the last call, or 0 if no time was counted, and starts the next interval.
  double take(Clock::time_point now) {
    const bool running = running_;
    pause(now);
    const double seconds = std::chrono::duration<double>(spent_).count();
    const double rate = seconds > 0 ? static_cast<double>(units_) / seconds : 0;
    units_ = 0;
    spent_ = {};
    if (running) resume(now);
    return rate;
  }

 private:
  bool running_ = false;
  Clock::time_point since_;
  Clock::duration spent_{};
  std::uint64_t units_ = 0;
};

}  // namespace trainyard
