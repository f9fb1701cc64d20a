// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/draft.h"

namespace trainyard::launch {

/// Throws if the parameters of `draft` (a component while it is being planned) break a rule that its accelerator
/// declares, such as the allowed numbers of devices. The error gives the position in the file, the value, the name of
/// the rule, and what the rule allows:
///
///    ipu.toml:6: topology.devices: 3 is not allowed with the accelerator simulated (ipu), rule device_counts: 1, 2, 4
///
/// The accelerator reports its rules when it is constructed with the parameters from the file. The rules may come from
/// the cache of an earlier launch. If they allow the parameters, this is enough, because the component checks the rules
/// again during the run. If not, the accelerator itself is queried again before the plan is refused.
///
/// settle_automatic() must already have replaced "auto" in the draft's parameters. A component that declares no
/// accelerator is accepted. If there are more ranks than devices and the accelerator allows ranks to share a device, a
/// warning is added to `warnings`.
void check_accelerator_rules(const Draft& draft, Catalogue& catalogue, std::vector<std::string>& warnings);

}  // namespace trainyard::launch
