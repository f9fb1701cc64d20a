// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "archive/metrics_reader.h"
#include "tools/trainyard/plot_curve.h"

namespace trainyard::tools {

/// The source of the curves of a plot: a run, or a file with metrics.
class PlotSource {
 public:
  /// `word` is a file, or names a run as find_past_run() does.
  PlotSource(const std::string& word, const std::string& folder);

  /// Reads what is new. Returns true if anything has changed.
  bool update() { return reader_->update(); }

  /// Returns true if the run has not ended. For a file that belongs to no run, returns false.
  bool goes_on() const;

  const std::string& name() const { return name_; }

  /// Returns the curves of a metric: "validate/loss", or "loss" for that of every stage. Returns none if there is no
  /// such metric.
  std::vector<Curve> curves(const std::string& metric, PlotAxis axis) const;

  /// Returns a sentence about what could not be read, or an empty text.
  std::string damage() const;

  /// Returns the names of all metrics, such as "validate/loss".
  std::vector<std::string> metrics() const;

 private:
  std::int64_t origin_ns() const;

  std::string name_;
  std::string directory_;  ///< The output directory of the run; empty for a file.
  std::unique_ptr<archive::MetricsReader> reader_;
};

}  // namespace trainyard::tools
