// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "launch/plan/draft.h"
#include "launch/plan/parameter_check.h"

namespace trainyard::launch {

/// Refuses a component whose parameters break a published rule of the accelerator that they name. The error gives the
/// place in the file, the value, the name of the rule, and what the rule allows.
///
///    ipu.toml:6: topology.devices: 3 is not allowed with the accelerator simulated (ipu), rule device_counts: 1, 2, 4
///
/// The rules are those that the accelerator reports when it is constructed with the parameters from the file. Rules
/// cached from an earlier launch are sufficient to accept a plan, because the host checks again; before a plan is
/// refused, the accelerator is queried again. With "auto", the rules of the accelerator that would be chosen apply.
///
/// `given` are the component's parameters, from its own table, [topology] and [run]. Components that declare no
/// accelerator pass.
void check_accelerator_rules(const Draft& draft, const std::map<std::string, GivenParameter>& given,
                             Catalogue& catalogue);

}  // namespace trainyard::launch
