// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/trainyard/submit/engine.h"

namespace trainyard::tools::submit {

/// Kubernetes with JobSet: a manifest of the API jobset.x-k8s.io/v1alpha2, in which each host is a pod of one indexed
/// Job. If a pod fails, the JobSet restarts all pods, and the run continues from its newest checkpoint.
class JobSet final : public Engine {
 public:
  std::string text(const Job& job) const override;
  int hand_over(const Job& job) const override;
};

}  // namespace trainyard::tools::submit
