// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace trainyard {

/// Measures how many units, such as samples or tokens, are trained on per second. The caller pauses the measurement
/// during evaluations and checkpoints.
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

  /// Counts units that have been trained on.
  void add(std::uint64_t units) { units_ += units; }

  /// Returns the units per second since the last call, or 0 if no time was counted, and starts the next measurement.
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
