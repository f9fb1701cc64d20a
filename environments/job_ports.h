// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard::environments {

/// Returns 16 consecutive ports between 20000 and 29999 at which the hosts of a job can meet if the engine names no
/// port. They depend only on the name of the job, so all hosts compute the same ports. Two jobs can get the same ports.
/// This is why there are several ports, and why hosts that meet must check that they belong to the same job.
std::vector<std::uint16_t> ports_of_job(std::string_view job);

/// Returns up to 16 consecutive ports that begin with `first`.
std::vector<std::uint16_t> ports_from(std::uint32_t first);

}  // namespace trainyard::environments
