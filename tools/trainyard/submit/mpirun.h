// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// mpirun of Open MPI, which starts the run immediately and ends with it. There is no queue.
class Mpirun final : public Engine {
 public:
  std::string text(const Job& job) const override;
  /// Runs mpirun until the run has ended, and returns its exit code.
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
