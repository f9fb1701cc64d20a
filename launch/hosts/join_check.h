// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/plugin/abi.h"
#include "launch/hosts/messages.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// Returns a Join in which only the fields that follow from the plan and from this installation are set. They include
/// everything that must be the same on all hosts. `plugins` are the plugins of this installation.
Join describe_launch(const Plan& plan, const std::vector<PluginLabel>& plugins);

/// Returns the reason why an agent (the process that acts for the launcher on another host) cannot join the run, or an
/// empty string if it can. The reason continues a sentence that begins with the name of the host, as in "was started
/// with other arguments: ...". `own` describes the launch on host 0, and `other` that of the agent. Characters that
/// could harm a terminal are replaced.
std::string objection_to(const Join& own, const Join& other);

/// Returns warnings about an agent that is not refused: one if its processor and that of host 0 use different compute
/// kernels, and one if the clocks of the two hosts differ by more than 10 s. The warnings continue a sentence in the
/// same way as the result of objection_to(), and `own` and `other` have the same meaning as there. `clock_ns` is the
/// time of host 0's clock at which the Join arrived.
std::vector<std::string> remarks_on(const Join& own, const Join& other, std::int64_t clock_ns);

/// Returns a description of a host from its Join: "host 1 (h1, 10.77.0.2)". Characters that could harm a terminal are
/// replaced.
std::string describe_joined(const Join& join);

}  // namespace trainyard::launch
