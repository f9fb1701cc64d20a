// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/plan/draft.h"
#include "launch/plan/topics.h"

namespace trainyard::launch {

/// Connects every input to all outputs of its topics, except the component's own. Ids increase in the order of the
/// receivers. The drafts must have been placed and their topics named. Throws, with the place in the file, for a
/// required input without a sender (with the nearest topics), for ends of different types (with both schemas), for an
/// edge over TCP between components that share the parameter arena, and for an input whose senders must run on its own
/// event loop and do not.
std::vector<EdgePlan> connect(const std::vector<Draft>& drafts, const Senders& senders);

}  // namespace trainyard::launch
