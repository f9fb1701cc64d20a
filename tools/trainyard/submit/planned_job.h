// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "tools/trainyard/submit/job.h"

namespace trainyard::tools::submit {

/// What a job must know of its launch file.
struct PlannedJob {
  Job job;                         ///< With what follows from the plan; the rest is as by default.
  std::vector<std::string> notes;  ///< Sentences for the user about what was assumed.
};

/// Plans the launch file as `trainyard launch` will on the hosts of the job, and returns what the job must know of it.
/// `restarts` says whether the job may be started again. Throws kInvalidArgument for everything that a launch would
/// refuse on any machine, for `devices = -1`, because an engine must be asked for a number, and for a job that would
/// not continue correctly when it is started again.
PlannedJob plan_job(const std::string& file, const std::vector<std::string>& arguments, launch::Catalogue& catalogue,
                    bool restarts);

}  // namespace trainyard::tools::submit
