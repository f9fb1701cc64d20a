// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "viewer/book.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {

/// Asks a run once a second what its components and edges do, without ever waiting for the answer: a launcher that is
/// slow to answer delays nothing else. The components account for their time only while somebody looks at the graph.
class ObservationPolls {
 public:
  /// All objects passed by reference must outlive this object.
  ObservationPolls(visitors::RegistryClient& registry, const Book& book) : observer_(registry), book_(book) {}

  /// Returns an observation that has arrived.
  std::optional<visitors::Observation> answer();
  /// Asks again if it is time to. Returns whether it was.
  bool ask_when_due();

 private:
  using Clock = std::chrono::steady_clock;

  visitors::RunObserver observer_;
  const Book& book_;
  bool watched_ = false;  ///< Somebody looks at the graph.
  Clock::time_point next_{};
};

}  // namespace trainyard::viewer
