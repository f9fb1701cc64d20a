// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/activity/wait_cause.h"
#include "core/process/plan_view.h"

namespace trainyard::core {

/// Returns a name for `cause`, which the component with the index `own` waits for. This is the name of another
/// component if the cause identifies one, and otherwise the word for the kind of cause, such as "device". If the plan
/// does not contain the other component, returns an empty string or, for a rank, a name such as "rank2".
std::string name_of_cause(const PlanView& plan, std::uint32_t own, const WaitCause& cause);

}  // namespace trainyard::core
