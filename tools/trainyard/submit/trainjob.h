// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Kubernetes with Kubeflow Trainer: a TrainJob of the API trainer.kubeflow.org/v1alpha1. It refers to a training
/// runtime of the cluster for PyTorch. The runtime also determines how often the job is started again.
class TrainJob final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
