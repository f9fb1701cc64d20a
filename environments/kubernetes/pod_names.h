// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::kubernetes {

/// Returns the names of all pods of a Job, derived from that of pod 0: "run-0.run" becomes "run-0.run", "run-1.run" and
/// so on. `own_name` is the host name of pod `number`. The result is empty if `own_name` or `first` shows that the pods
/// are not named in this way.
std::vector<std::string> pod_names(const std::string& first, const std::string& own_name, std::uint32_t number,
                                   std::uint32_t count);

}  // namespace trainyard::kubernetes
