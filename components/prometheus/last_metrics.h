// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "components/prometheus/exposition.h"
#include "messages/metrics.h"

namespace trainyard::prometheus {

/// The last value of every metric of a run, and how far training has come.
class LastMetrics {
 public:
  /// How many values are kept. Their names come from messages, and Prometheus keeps a time series for each of them.
  static constexpr std::size_t kMostValues = 4096;
  static constexpr std::size_t kLongestName = 200;

  /// Takes the values of a message. Values with new names are left out when there are too many, and names that are too
  /// long always.
  void add(const Metrics& metrics);

  /// Writes everything; nothing if no message has arrived.
  void write(Exposition& text) const;

 private:
  struct Stage {
    std::int64_t time_ns = 0;  ///< When the last message of this stage was sent.
    std::map<std::string, double> values;
  };

  std::map<std::string, Stage> stages_;
  std::size_t values_ = 0;  ///< Of all stages.
  Metrics last_;            ///< The last message, without its values.
  bool any_ = false;
};

}  // namespace trainyard::prometheus
