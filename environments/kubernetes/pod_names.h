// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::kubernetes {

/// Returns the names of the `count` pods of a Job, derived from the name of pod 0, `first`. If `first` is "run-0.run",
/// the names are "run-0.run", "run-1.run" and so on. `own_name` is the host name of this pod, which has the number
/// `number`. The result is empty if `first` or `own_name` shows that the pods are not named in this way.
std::vector<std::string> pod_names(const std::string& first, const std::string& own_name, std::uint32_t number,
                                   std::uint32_t count);

}  // namespace trainyard::kubernetes
