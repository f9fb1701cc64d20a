// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Submits runs to Slurm. The description of a job is a batch script for sbatch. The script starts the run on every
/// host with srun. If the job has a time limit, the script tells the run to stop shortly before it. If the job may then
/// be restarted, the script puts it back into the queue, and the run continues from its newest checkpoint.
class Slurm final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
