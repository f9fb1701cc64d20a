// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Slurm: a batch script for sbatch. The script starts the run on every host with srun, asks the run to stop before the
/// time limit, and puts the job back into the queue if the run was not finished.
class Slurm final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
