// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "viewer/book.h"
#include "viewer/rules.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {

/// A function that is told about an alert of a run.
using OnAlert = std::function<void(const Identity& run, const Alert& alert)>;

/// Enters the alerts of a live run into its book, and calls the OnAlert.
class LiveAlerts {
 public:
  /// All objects passed by reference must outlive this object.
  LiveAlerts(const Identity& identity, Book& book, const OnAlert& on_alert);

  void see(const Metrics& metrics);
  void see(const RankMetrics& metrics);
  void see(const visitors::Observation& observation);
  /// Enters metrics that are older than the follower. Their alerts are entered into the book, but nobody is told about
  /// them.
  void see_past(const Metrics& metrics);

 private:
  void raise(Alert alert);

  const Identity& identity_;
  Book& book_;
  const OnAlert& on_alert_;
  bool silent_ = false;
  std::vector<std::unique_ptr<Rule>> rules_;
};

}  // namespace trainyard::viewer
