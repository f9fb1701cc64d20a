// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "viewer/book.h"
#include "viewer/rules.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {

/// Called with every new alert of a run, for instance to notify the user.
using OnAlert = std::function<void(const Identity& run, const Alert& alert)>;

/// Raises the alerts of a launch that is being followed: enters them into its book (everything that the viewer knows
/// about the run), and calls `on_alert`.
class LiveAlerts {
 public:
  /// All objects passed by reference must outlive this object.
  LiveAlerts(const Identity& identity, Book& book, const OnAlert& on_alert);

  void see(const Metrics& metrics);
  void see(const RankMetrics& metrics);
  void see(const visitors::Observation& observation);
  /// Processes metrics from before the follower attached. Alerts that follow from them are entered into the book, but
  /// `on_alert` is not called for them.
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
