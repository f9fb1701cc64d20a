// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "viewer/book.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {

/// Asks a run once a second about the activity of its components and edges (the connections between components). It
/// never waits for the answer, so a launcher that answers slowly delays nothing else. The caller must call answer() and
/// ask_when_due() repeatedly. While somebody looks at the graph, the questions also make the components measure how
/// they spend their time.
class ObservationPolls {
 public:
  /// All objects passed by reference must outlive this object.
  ObservationPolls(visitors::RegistryClient& registry, const Book& book) : observer_(registry), book_(book) {}

  /// Returns an observation if one has arrived, otherwise an empty optional.
  std::optional<visitors::Observation> answer();
  /// Asks again if a second has passed since the last question, or earlier if somebody has just begun to look at the
  /// graph. Returns true if it has asked.
  bool ask_when_due();

 private:
  using Clock = std::chrono::steady_clock;

  visitors::RunObserver observer_;
  const Book& book_;
  bool watched_ = false;  ///< True if somebody looks at the graph.
  Clock::time_point next_{};
};

}  // namespace trainyard::viewer
