// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "tools/trainyard/submit/job.h"

namespace trainyard::tools::submit {

/// The job that follows from a launch file.
struct PlannedJob {
  Job job;                         ///< Only the members that follow from the plan are set.
  std::vector<std::string> notes;  ///< Sentences that tell the user what was assumed.
};

/// Plans the launch file as `trainyard launch` will do on the hosts of the job, and returns the resulting job.
/// `restarts` is true if the engine may restart the job. Throws kInvalidArgument in three cases: if the launch file
/// would be invalid on every machine; if `devices` is -1 (all devices of the host), because the engine needs a number;
/// and if the job may be restarted but the run would not continue correctly.
PlannedJob plan_job(const std::string& file, const std::vector<std::string>& arguments, launch::Catalogue& catalogue,
                    bool restarts);

}  // namespace trainyard::tools::submit
