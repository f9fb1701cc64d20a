// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "components/prometheus/exposition.h"
#include "messages/metrics.h"

namespace trainyard::prometheus {

/// The newest value of every metric of a run, and the progress of the training.
class LastMetrics {
 public:
  /// The maximum number of values, and the maximum length of a name in bytes. The limits are needed because the names
  /// come from messages, and Prometheus keeps a time series for each name.
  static constexpr std::size_t kMostValues = 4096;
  static constexpr std::size_t kLongestName = 200;

  /// Stores the values of a message. A value with a new name is ignored if there are already too many values, and a
  /// value whose name is too long is always ignored.
  void add(const Metrics& metrics);

  /// Writes all values to `text`. Writes nothing if no message has arrived.
  void write(Exposition& text) const;

 private:
  struct Stage {
    std::int64_t time_ns = 0;  ///< When the newest message of this stage was sent.
    std::map<std::string, double> values;
  };

  std::map<std::string, Stage> stages_;
  std::size_t values_ = 0;  ///< The number of values of all stages together.
  Metrics last_;            ///< The newest message, without its values.
  bool any_ = false;
};

}  // namespace trainyard::prometheus
