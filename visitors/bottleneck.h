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
  /// The sender and the receiver of every edge (connection) with the policy `block`. The sender of such an edge waits
  /// if the receiver is slower.
  std::vector<std::pair<std::string, std::string>> blocking_edges;
};

/// A component that delays the run.
struct Bottleneck {
  std::string component;
  /// The fraction of the time for which the component delayed the run, from 0 to 1.
  double share = 0;
};

/// Returns the components that hold up the training, the most important first. The list is empty if the shares do not
/// show any, for instance while the run is starting.
///
/// The search begins at the accelerator hosts (the components that compute losses and gradients). Only those that wait
/// least for other ranks are considered, because the other ranks wait for them. The time during which such a host is
/// busy or waits for its device is attributed to the host itself. The time during which it waits for another component
/// is attributed to that component as far as that component is busy. As far as that component itself waits for a third
/// one, the time is attributed to the third one in the same way, and so on. Idle time is attributed to no component.
/// There is one addition: if a component sends to such a host over a blocking edge and is busy nearly all the time, its
/// busy time counts as its share, even if the host hardly waits for it. Such a component would hold up the run as soon
/// as anything else became faster. The result contains the components whose share is at least 0.1 and at least half of
/// the largest share.
std::vector<Bottleneck> find_bottlenecks(const ObservedRun& run);

}  // namespace trainyard::visitors
