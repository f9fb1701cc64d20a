// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/plugin/abi.h"
#include "launch/hosts/messages.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// Returns the parts of a Join that follow from the plan and from this installation: everything that must be the same
/// on all hosts. `plugins` are the plugins of this installation.
Join describe_launch(const Plan& plan, const std::vector<PluginLabel>& plugins);

/// Returns why an agent cannot take part in the run, as a part of a sentence that follows the name of its host, such as
/// "was started with other arguments: ..."; empty if it can. `own` describes the launch on host 0. The text can be
/// printed, whatever the agent has sent.
std::string objection_to(const Join& own, const Join& other);

/// Returns what the user should know about an agent although it can take part, as parts of sentences like those of
/// objection_to(): a processor with other kernels, and a clock that is more than 10 s off. `clock_ns` is the time of
/// host 0's clock when the Join arrived.
std::vector<std::string> remarks_on(const Join& own, const Join& other, std::int64_t clock_ns);

/// Returns a host as it presents itself: "host 1 (h1, 10.77.0.2)". The text can be printed, whatever the agent has
/// sent.
std::string describe_joined(const Join& join);

}  // namespace trainyard::launch
