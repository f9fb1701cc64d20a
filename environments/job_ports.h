// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard::environments {

/// Returns 16 consecutive ports between 20000 and 29999, at which the hosts of a job can meet if the engine that has
/// started the job (such as Slurm) names no port. The ports depend only on the job's name, so all hosts compute the
/// same ports. Two jobs can get the same ports. For this reason there are several ports to try, and hosts that connect
/// must check that they belong to the same job.
std::vector<std::uint16_t> ports_of_job(std::string_view job);

/// Returns 16 consecutive ports, beginning with `first`. Ports above 65535 are left out, so the result can be shorter
/// or empty.
std::vector<std::uint16_t> ports_from(std::uint32_t first);

}  // namespace trainyard::environments
