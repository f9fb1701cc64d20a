// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "viewer/book.h"
#include "viewer/rules.h"

namespace trainyard::viewer {

/// Applies the rules (rules.h) to the metrics of a past run, and enters the resulting alerts into the run's book
/// (everything that the viewer knows about the run). It must receive the metrics in the order in which they were
/// written. When a launch begins at an earlier step than the one at which the previous launch ended, the rules start
/// again, so that the jump back does not raise an alert.
class PastAlerts {
 public:
  explicit PastAlerts(Book& book) : book_(book) { begin(); }

  void see(const Metrics& metrics) {
    if (metrics.stage == "train" && metrics.step < std::exchange(step_, metrics.step)) begin();
    for (const auto& rule : rules_) rule->on_metrics(metrics);
  }
  void see(const RankMetrics& metrics) {
    for (const auto& rule : rules_) rule->on_rank(metrics);
  }

 private:
  void begin() {
    rules_ = all_rules([this](Alert alert) { book_.add(std::move(alert)); });
  }

  Book& book_;
  std::vector<std::unique_ptr<Rule>> rules_;
  std::uint64_t step_ = 0;
};

}  // namespace trainyard::viewer
