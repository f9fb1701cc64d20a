// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// Open MPI: the run is started with `mpirun ... trainyard launch ...`, with one process on each host (for instance
/// with `--map-by ppr:1:node`) or one process for each device.
///
/// mpirun tells a process its rank and the number of processes on its host, but not the number of the host. The host's
/// number is derived from the number of mpirun's daemon on the host, which is in an environment variable. If mpirun
/// itself runs on host 0, the hosts meet at the address of mpirun. Otherwise set TRAINYARD_MEET_AT.
///
/// Errors  kInvalidArgument if the numbers do not determine which host this is
class OpenMpi final : public Environment {
 public:
  explicit OpenMpi(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 60; }
  std::vector<std::string> starters() const override {
    return {"orted", "orterun", "mpirun*", "mpiexec*", "prted", "prterun"};
  }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
  std::vector<std::string> process_variables() const override;
};

}  // namespace trainyard
