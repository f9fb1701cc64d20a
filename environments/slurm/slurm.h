// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// Slurm: the run is started with `srun trainyard launch ...`, with one task on each host or one task for each device.
/// This environment also works in job arrays and in heterogeneous jobs, and with every value of srun's option `--mpi`.
///
/// The hosts meet at the first host of the job step, and not at the host on which srun runs, which is often a login
/// node. The ports are those that `srun --resv-ports` has reserved, if any.
///
/// Errors  kInvalidArgument if the run is started without srun in the shell of salloc or, in a job with several hosts,
///         in the batch script, because Slurm then starts only one process
class Slurm final : public Environment {
 public:
  explicit Slurm(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 40; }
  std::vector<std::string> starters() const override { return {"slurmstepd*"}; }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
  std::vector<std::string> process_variables() const override;
};

}  // namespace trainyard
