// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "components/logger/rate_meter.h"
#include "messages/metrics.h"

namespace trainyard {

/// The text that shows the progress of a training run. This class uses no terminal and no clock.
class Progress {
 public:
  /// Records the metrics of any stage.
  void update(const Metrics& metrics);

  /// Returns true if the metrics of a training step have been recorded. Before that, there is nothing to draw.
  bool has_steps() const { return step_ != 0; }
  /// Returns true if the last step of a run whose length is known has been recorded.
  bool complete() const { return total_ != 0 && step_ >= total_; }

  /// Returns the live line: "840/2000  42%  loss 2.10340  lr 1.00e-03  4.1k tokens/s  eta 00:45  val 1.90210". The line
  /// is at most `width` characters wide; if necessary, the least important parts are left out. `colour` adds escape
  /// sequences, which have no width.
  std::string live_line(std::size_t width, bool colour) const;

  /// Returns the line for files and pipes: "step 840/2000  loss 2.10340  lr 1.00e-03  4.1k tokens/s  eta 00:45". For a
  /// stage other than train, its name comes first. The rate is the throughput that the step itself reports, so the line
  /// agrees with the files. If the sender reports no throughput, this class measures the rate.
  std::string plain_line(const Metrics& metrics) const;

 private:
  std::string rate_text() const;
  std::string eta_text() const;
  std::string step_text() const;

  std::uint64_t step_ = 0;
  std::uint64_t total_ = 0;
  std::string unit_ = "sample";
  std::optional<double> loss_, learning_rate_, validation_loss_;
  std::optional<double> throughput_;  ///< The throughput that the last training step reported.
  RateMeter steps_, units_;
};

}  // namespace trainyard
