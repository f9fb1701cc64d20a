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
  /// `word` is the path of a file with metrics, or refers to a run in `folder`, in one of the ways that find_past_run()
  /// accepts. Throws kNotFound if there is neither.
  PlotSource(const std::string& word, const std::string& folder);

  /// Reads what was written since the last call. The first call reads everything that exists; before it, there are no
  /// metrics. Returns true if anything has changed.
  bool update() { return reader_->update(); }

  /// Returns true if the run is still running. Returns false for a file that does not belong to a run.
  bool goes_on() const;

  const std::string& name() const { return name_; }

  /// Returns the curves of a metric. `metric` is a stage and a name, such as "validate/loss", or only a name, such as
  /// "loss", which selects the metric in every stage. The result is empty if there is no such metric.
  std::vector<Curve> curves(const std::string& metric, PlotAxis axis) const;

  /// Returns a sentence about a part of the metrics that was not read, because it is damaged or because there are too
  /// many rows. Returns an empty text if everything was read.
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
