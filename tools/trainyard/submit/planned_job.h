// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "tools/trainyard/submit/job.h"

namespace trainyard::tools::submit {

/// A job as it follows from its launch file.
struct PlannedJob {
  Job job;                         ///< The job. Fields that do not follow from the plan have their defaults.
  std::vector<std::string> notes;  ///< Sentences that tell the user what was assumed.
};

/// Plans the launch file as `trainyard launch` will do on the hosts of the job, and returns the resulting job.
/// `restarts` is true if the engine may start the job again. Throws kInvalidArgument for everything that a launch would
/// refuse on any machine; for `devices = -1`, because an engine must be asked for a number; and for a job that would
/// not continue correctly when it is started again.
PlannedJob plan_job(const std::string& file, const std::vector<std::string>& arguments, launch::Catalogue& catalogue,
                    bool restarts);

}  // namespace trainyard::tools::submit
