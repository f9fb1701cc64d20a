#pragma once

#include <cstdint>
#include <vector>

#include "messages/plan.h"

namespace trainyard {

/// The order in which components become active: receivers before those who send to them, sources last. Where components
/// send to each other in a ring, the one goes first that receives most and sends least; the lower index decides ties.
std::vector<std::uint32_t> activation_order(std::size_t components, const std::vector<EdgePlan>& edges);

}  // namespace trainyard
