// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Submits runs to Slurm. The description of a job is a batch script for sbatch. The script starts the run on every
/// host with srun, tells the run to stop shortly before the time limit, and then puts the job back into the queue, so
/// that the run can continue later.
class Slurm final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
