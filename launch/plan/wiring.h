#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/topics.h"

namespace trainyard::launch {

/// Connects every input to all outputs of the topics that it hears, except the component's own. Ids count up in the
/// order of the receivers. The drafts must have been placed and their topics named. Throws, with the place in the file,
/// for a required input that nobody sends to (with the nearest topics), for ends of different types (with both
/// schemas), and for an edge over TCP between components that share the parameter arena.
std::vector<EdgePlan> connect(const std::vector<Draft>& drafts, const Senders& senders);

}  // namespace trainyard::launch
