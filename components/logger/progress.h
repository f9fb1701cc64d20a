// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "components/logger/rate_meter.h"
#include "messages/metrics.h"

namespace trainyard {

/// Composes the texts that show the progress of a training run, from the metrics alone. It uses neither a terminal nor
/// a clock.
class Progress {
 public:
  /// Records the metrics of a training step or an evaluation.
  void update(const Metrics& metrics);

  /// Returns true if the metrics of a training step have been recorded. Before that, there is no live line.
  bool has_steps() const { return step_ != 0; }
  /// Returns true if the last step of the run has been recorded; always false if the length of the run is unknown.
  bool complete() const { return total_ != 0 && step_ >= total_; }

  /// Returns the live line: "840/2000  42%  loss 2.10340  lr 1.00e-03  4.1k tokens/s  eta 00:45  val 1.90210". It is at
  /// most `width` characters long: if there is room and the length of the run is known, it begins with a progress bar;
  /// if there is too little room, the least important parts are left out. If `colour` is true, it also contains escape
  /// sequences, which do not count as characters.
  std::string live_line(std::size_t width, bool colour) const;

  /// Returns the line for files and pipes: "step 840/2000  loss 2.10340  lr 1.00e-03  4.1k tokens/s  eta 00:45". For
  /// stages other than train, it begins with the name of the stage, and has no rate and no remaining time. `metrics`
  /// must have been passed to update() before. The rate is the throughput in `metrics`, so that the line agrees with
  /// the files; if there is none, this object measures the rate.
  std::string plain_line(const Metrics& metrics) const;

 private:
  std::string rate_text() const;
  std::string eta_text() const;
  std::string step_text() const;

  std::uint64_t step_ = 0;
  std::uint64_t total_ = 0;
  std::string unit_ = "sample";
  std::optional<double> loss_, learning_rate_, validation_loss_;
  std::optional<double> throughput_;  ///< The throughput in the most recent metrics of a training step.
  RateMeter steps_, units_;
};

}  // namespace trainyard
