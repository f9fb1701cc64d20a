// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "components/prometheus/exposition.h"
#include "visitors/run_observer.h"

namespace trainyard::prometheus {

/// Totals for Prometheus, from the observations of a run: the work of its components, and the counters of its processes
/// and edges (connections between components).
///
/// An observation contains how long each component was busy or waited during one interval. Prometheus needs totals,
/// from which it can compute the shares for any interval, so this class adds up these times. Of everything else, it
/// keeps the newest observation.
class RunCounters {
 public:
  /// The maximum number of causes of waiting; time due to further causes is not counted. A limit is needed because the
  /// names of causes come from other processes.
  static constexpr std::size_t kMostCauses = 4096;

  void add(visitors::Observation observation);

  /// Writes all totals to `text`. Writes nothing if there has been no observation.
  void write(Exposition& text) const;

 private:
  struct Activity {
    double busy_seconds = 0;
    double messages = 0;
  };
  /// A cause of waiting: the component that waited, what it waited for, and the kind of waiting.
  using Cause = std::tuple<std::string, std::string, std::string>;

  void add_up(const visitors::ObservedNode& node);
  void write_components(Exposition& text) const;
  void write_activity(Exposition& text) const;
  void write_edges(Exposition& text) const;
  void write_processes(Exposition& text) const;

  visitors::Observation last_;
  std::map<std::string, Activity> activity_;  ///< The activity of each component.
  std::map<Cause, double> waiting_seconds_;
};

}  // namespace trainyard::prometheus
