#pragma once

#include <map>
#include <string>

#include "launch/plan/draft.h"
#include "launch/plan/parameter_check.h"

namespace trainyard::launch {

/// Refuses a component whose parameters break a published rule of the accelerator that they name: one error with the
/// place in the file, the value that was given, the rule by name and what it allows.
///
///     ipu.toml:6: topology.devices: 3 is not allowed with the accelerator simulated (ipu), rule device_counts: 1, 2, 4
///
/// All that is known of an accelerator is what it says of itself when it is made with the parameters that the file
/// gives it. What was remembered from an earlier launch is enough to let a plan pass, because the host looks again;
/// before anything is refused the accelerator is asked anew. "auto" is held to the rules of the one that would be
/// taken.
///
/// `given`: the component's parameters, from its own table, [topology] and [run]. Components that declare no
/// accelerator pass.
void check_accelerator_rules(const Draft& draft, const std::map<std::string, GivenParameter>& given,
                             Catalogue& catalogue);

}  // namespace trainyard::launch
