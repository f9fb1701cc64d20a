// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "components/logger/console.h"
#include "components/logger/progress.h"
#include "components/logger/sink.h"

namespace trainyard {

/// The text that the user sees of a run. On a terminal there is one live line, redrawn at most ten times a second, and
/// above it a line for every validation, checkpoint and prediction. Elsewhere training steps also have lines, but at
/// most one in every interval, because a step can be as short as a few microseconds.
class Display final : public Sink {
 public:
  /// Either only lines, or one live line with the most important lines above it.
  enum class Mode { kLines, kLive };
  using Clock = std::chrono::steady_clock;
  // The time between two redraws: short enough for every user, and long enough to cost almost nothing.
  static constexpr std::chrono::milliseconds kRedraw{100};

  /// `fd` belongs to the caller and stays open. In the mode kLines, at most one line for a training step is shown in
  /// every `interval`, for the newest step; if `interval` is 0, every step has a line.
  Display(int fd, Mode mode, bool colour, Clock::duration interval = {})
      : console_(fd, colour), mode_(mode), interval_(interval) {}

  void on(const Metrics& metrics) override;
  void on(const ModelInfo& model) override;
  void on(const DatasetInfo& dataset) override;
  void on(const Prediction& prediction) override;
  void on(const CheckpointDone& checkpoint) override;
  using Sink::on;

  /// Takes the metrics into account without showing them, so that the rate is right when only every n-th step is shown.
  void count_only(const Metrics& metrics) { progress_.update(metrics); }

  /// Draws and writes what is due at `now`. Returns true if something remains to be drawn or written, so that refresh()
  /// must be called again. A call is cheap if nothing is due.
  bool refresh(Clock::time_point now);

  void flush() override { console_.write_pending(); }

  /// Shows the last state and ends the live line. Waits up to a second if the console does not accept the text
  /// immediately.
  void finish();

 private:
  void line(const std::string& text, const char* colour = "");
  // Shows or keeps the line of a training step.
  void show_step(const Metrics& metrics);
  void show_waiting();

  Console console_;
  Mode mode_;
  Clock::duration interval_;
  std::string waiting_;  ///< The line of the newest step, if it has not been shown.
  Clock::time_point last_step_line_{};
  Progress progress_;
  bool stale_ = false;  ///< True if the live line is out of date.
  Clock::time_point last_refresh_{};
};

}  // namespace trainyard
