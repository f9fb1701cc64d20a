// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/topics.h"

namespace trainyard::launch {

/// Returns an edge (a connection) from every output to every input that receives its topic, except within one
/// component. Also left out are edges over which an input that serves every rank would get the arena (the memory with
/// the parameters and gradients) of a rank on another host. The ids of the edges increase in the order of the
/// receivers. place() and name_topics() must already have been called.
///
/// Throws, with the position in the file, for a required input without a sender (the error suggests similar topics),
/// and for an output and an input of different types (the error shows both schemas). Also throws for an edge over TCP
/// between components that share the arena, and for an input that requires its senders on its own event loop
/// (InputOptions::same_loop) if one of them runs on another.
std::vector<EdgePlan> connect(const std::vector<Draft>& drafts, const Senders& senders);

}  // namespace trainyard::launch
