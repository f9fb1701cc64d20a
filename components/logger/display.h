// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "components/logger/console.h"
#include "components/logger/progress.h"
#include "components/logger/sink.h"

namespace trainyard {

/// Shows the run on the console. On a terminal, one live line shows the progress and is redrawn at most ten times a
/// second; above it, every validation, checkpoint and prediction gets a line. In files and pipes, training steps get
/// lines, too, but at most one per interval, because steps can be very short.
class Display final : public Sink {
 public:
  /// The style of the display: only lines, or one live line with the most important lines above it.
  enum class Mode { kLines, kLive };
  using Clock = std::chrono::steady_clock;
  // The shortest time between two drawings of the live line.
  static constexpr std::chrono::milliseconds kRedraw{100};

  /// `fd` belongs to the caller and must stay open. In the mode kLines, only the newest training step in every
  /// `interval` gets a line. If `interval` is 0, every step gets a line. `colour` is true if lines may contain colours.
  Display(int fd, Mode mode, bool colour, Clock::duration interval = {})
      : console_(fd, colour), mode_(mode), interval_(interval) {}

  void on(const Metrics& metrics) override;
  void on(const ModelInfo& model) override;
  void on(const DatasetInfo& dataset) override;
  void on(const Prediction& prediction) override;
  void on(const CheckpointDone& checkpoint) override;
  using Sink::on;

  /// Records metrics without showing them, so that the rate is right if only every n-th step is shown.
  void count_only(const Metrics& metrics) { progress_.update(metrics); }

  /// Draws the live line and writes pending text, unless it last did so less than kRedraw before `now`. Returns true if
  /// refresh() must be called again, because something may remain to be drawn or written.
  bool refresh(Clock::time_point now);

  void flush() override { console_.write_pending(); }

  /// Called at the end of the run. Shows the final state of the run and ends the live line. Waits up to a second if the
  /// console does not accept the text immediately.
  void finish();

 private:
  void line(const std::string& text, const char* colour = "");
  // Shows the line of a training step now or keeps it for later, depending on the interval.
  void show_step(const Metrics& metrics);
  void show_waiting();

  Console console_;
  Mode mode_;
  Clock::duration interval_;
  std::string waiting_;  ///< The line of the newest step, if it has not been shown yet.
  Clock::time_point last_step_line_{};
  Progress progress_;
  bool stale_ = false;  ///< True if the live line is out of date.
  Clock::time_point last_refresh_{};
};

}  // namespace trainyard
