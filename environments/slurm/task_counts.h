// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::slurm {

/// Returns the number of tasks on each host. Slurm writes these numbers in a short form: "2(x3),1" stands for 2, 2, 2
/// and 1. Throws kInvalidArgument if the text has another form or stands for more than kMostHosts hosts; `where` names
/// the environment in the error message.
std::vector<std::uint32_t> expand_task_counts(std::string_view text, const std::string& where);

}  // namespace trainyard::slurm
