// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "visitors/activity.h"

namespace trainyard::visitors {

/// What the search for the bottleneck needs to know about a component.
struct ObservedComponent {
  std::string name;
  std::string plugin;
  std::string thread;  ///< The name of its event loop, which is unique in the run, such as "main/data".
  ComponentShares shares;
};

/// What the search for the bottleneck needs to know about a run.
struct ObservedRun {
  std::vector<ObservedComponent> components;
  /// The sender and the receiver of every edge with the policy `block`.
  std::vector<std::pair<std::string, std::string>> blocking_edges;
};

/// A component that delays the run.
struct Bottleneck {
  std::string component;
  /// The share of the time in which the component delayed the run, from 0 to 1.
  double share = 0;
};

/// Returns the components that hold up the training, the most important first, or an empty list if the shares do not
/// show any, for instance while the run waits for nothing but itself to begin.
///
/// The search begins at the accelerator hosts of the ranks that wait least for other ranks, because they hold up the
/// others. The time of such a host counts for the host itself while it is busy. While it waits, the time counts for the
/// component that it waits for, as far as that component is busy meanwhile; otherwise for whomever that component waits
/// for, and so on. In addition, a component that sends to such a host and is busy nearly all the time is named, even if
/// the host hardly waits for it: it would hold up the run as soon as anything else became faster. Of what is found,
/// those are named whose share is at least half of the largest.
std::vector<Bottleneck> find_bottlenecks(const ObservedRun& run);

}  // namespace trainyard::visitors
