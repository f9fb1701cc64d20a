// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// mpirun of Open MPI. It has no queue: it starts the run immediately, and runs until the run has ended.
class Mpirun final : public Engine {
 public:
  std::string text(const Job& job) const override;
  /// Waits until the run has ended, and returns the exit code of mpirun.
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
