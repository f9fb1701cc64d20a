// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Submits runs to Kubernetes with Kubeflow Trainer. The description of a job is a TrainJob for the API
/// trainer.kubeflow.org/v1alpha1. It refers to a training runtime for PyTorch that is installed in the cluster. The
/// runtime determines how many times the job is restarted.
class TrainJob final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
