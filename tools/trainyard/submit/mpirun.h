// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Starts runs with mpirun of Open MPI. mpirun has no queue: it starts the run immediately, and ends when the run has
/// ended.
class Mpirun final : public Engine {
 public:
  std::string text(const Job& job) const override;
  /// Waits until the run has ended, and returns the exit code of mpirun.
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
