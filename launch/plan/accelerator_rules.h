// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"

namespace trainyard::launch {

/// Refuses a component whose parameters break a published rule of the accelerator that they name. The error gives the
/// place in the file, the value, the name of the rule, and what the rule allows.
///
///    ipu.toml:6: topology.devices: 3 is not allowed with the accelerator simulated (ipu), rule device_counts: 1, 2, 4
///
/// The rules are those that the accelerator reports when it is constructed with the parameters from the file. Rules
/// cached from an earlier launch are sufficient to accept a plan, because the host checks again; before a plan is
/// refused, the accelerator is queried again.
///
/// "auto" must have been settled in the draft's given parameters. Components that declare no accelerator pass. A
/// warning is added if there are more ranks than devices and the accelerator lets them share.
void check_accelerator_rules(const Draft& draft, Catalogue& catalogue, std::vector<std::string>& warnings);

}  // namespace trainyard::launch
