// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "components/prometheus/exposition.h"
#include "visitors/run_observer.h"

namespace trainyard::prometheus {

/// What the components, edges and processes of a run have done.
///
/// An observation says how components spent one interval. Prometheus wants totals, from which it computes shares of any
/// interval, so the seconds of all observations are added up here.
class RunCounters {
 public:
  /// How many causes of waiting are kept. Members can name any.
  static constexpr std::size_t kMostCauses = 4096;

  void add(visitors::Observation observation);

  /// Writes everything; nothing if there was no observation.
  void write(Exposition& text) const;

 private:
  struct Activity {
    double busy_seconds = 0;
    double messages = 0;
  };
  /// The component, what it waited for, and the kind of waiting.
  using Cause = std::tuple<std::string, std::string, std::string>;

  void add_up(const visitors::ObservedNode& node);
  void write_components(Exposition& text) const;
  void write_activity(Exposition& text) const;
  void write_edges(Exposition& text) const;
  void write_processes(Exposition& text) const;

  visitors::Observation last_;
  std::map<std::string, Activity> activity_;  ///< By component.
  std::map<Cause, double> waiting_seconds_;
};

}  // namespace trainyard::prometheus
