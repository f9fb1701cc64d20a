// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Slurm: a batch script for sbatch. The script starts the run on every host with srun, tells it to stop before the
/// time limit is reached, and then puts the job back into the queue so that it can continue.
class Slurm final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
