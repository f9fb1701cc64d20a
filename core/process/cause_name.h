// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/activity/wait_cause.h"
#include "core/process/plan_view.h"

namespace trainyard::core {

/// Returns the name of the cause for which the component with the index `own` waits. If the cause is another component,
/// this is the component's name; otherwise it is the word for the kind of the cause. Returns an empty string if the
/// plan has no such component.
std::string name_of_cause(const PlanView& plan, std::uint32_t own, const WaitCause& cause);

}  // namespace trainyard::core
