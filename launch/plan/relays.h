// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/file/launch_file.h"
#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"

namespace trainyard::launch {

/// Adds the component "checkpoint_relay" to the file of a run on several hosts if a component of the file can use
/// relays. A relay carries the memory of a rank to and from a checkpoint writer on another host. Throws if the file
/// already uses this name for a component with another plugin. Must be called before draft_components().
void add_relay(LaunchFile& file, Catalogue& catalogue);

/// Removes the relays of ranks that are on the same host as every component that can use relays, and updates the
/// indices of the drafts (the components while they are being planned). Call this function after assign_hosts().
void remove_idle_relays(std::vector<Draft>& drafts);

}  // namespace trainyard::launch
