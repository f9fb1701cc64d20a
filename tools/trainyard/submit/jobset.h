// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Submits runs to Kubernetes with JobSet. The description of a job is a manifest for the API jobset.x-k8s.io/v1alpha2,
/// in which each host is a pod of one indexed Job. If a pod fails, the JobSet restarts all pods, at most Job::restarts
/// times, and the run continues from its newest checkpoint.
class JobSet final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
