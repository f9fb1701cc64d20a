// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "components/prometheus/exposition.h"
#include "messages/metrics.h"

namespace trainyard::prometheus {

/// Keeps the newest value of every metric of a run, and the progress of the training.
class LastMetrics {
 public:
  /// The maximum number of metrics, and the maximum length of a name in bytes. Without these limits, the messages of a
  /// faulty component could use up the memory of this process and of Prometheus, which stores a time series for each
  /// name.
  static constexpr std::size_t kMostValues = 4096;
  static constexpr std::size_t kLongestName = 200;

  /// Stores the values of a message. Ignores values with new names if there are already kMostValues values, and values
  /// with names that are too long.
  void add(const Metrics& metrics);

  /// Writes all values to `text`. Writes nothing if no message has arrived.
  void write(Exposition& text) const;

 private:
  struct Stage {
    std::int64_t time_ns = 0;  ///< When the newest message of this stage was sent.
    std::map<std::string, double> values;
  };

  std::map<std::string, Stage> stages_;
  std::size_t values_ = 0;  ///< The number of stages, plus the number of values of all stages.
  Metrics last_;            ///< The newest message, without its values.
  bool any_ = false;
};

}  // namespace trainyard::prometheus
