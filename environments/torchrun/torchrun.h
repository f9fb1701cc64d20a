// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// PyTorch's launchers, such as torchrun. Their variables have one of three forms:
///
/// * torchrun, and Ray Train: RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE count processes; GROUP_RANK, or
///   NODE_RANK, is the number of the host.
/// * Kubeflow Trainer, in a pod whose command is `trainyard launch` and not torchrun: PET_NODE_RANK, PET_NNODES,
///   PET_MASTER_ADDR and PET_MASTER_PORT.
/// * Kubeflow's older PyTorchJob: RANK and WORLD_SIZE without LOCAL_RANK count hosts.
///
/// These numbers alone determine which host is host 0; host names are never compared. If torchrun itself listens at
/// MASTER_PORT, the hosts meet at one of the ports above it.
///
/// Errors  kInvalidArgument for an elastic number of hosts such as PET_NNODES=1:4, or if the numbers are contradictory
class Torchrun final : public Environment {
 public:
  explicit Torchrun(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 70; }
  std::vector<std::string> starters() const override { return {"torchrun*", "python*", "pt_elastic*", "ray::*"}; }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
  std::vector<std::string> process_variables() const override;
};

}  // namespace trainyard
