// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/activity/wait_cause.h"
#include "core/process/plan_view.h"

namespace trainyard::core {

/// Returns the name of what the component with the index `own` waits for: of a component, or the word of the kind of
/// cause if it is no component. Empty if the plan does not have the component.
std::string name_of_cause(const PlanView& plan, std::uint32_t own, const WaitCause& cause);

}  // namespace trainyard::core
