// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// Kubernetes: each pod of an indexed Job or of a JobSet is a host. Kubernetes itself tells a pod only its number. The
/// manifest must set TRAINYARD_HOST_COUNT, and must set TRAINYARD_MEET_AT to the name of pod 0 in the headless service
/// of the Job.
///
/// Variables  JOB_COMPLETION_INDEX   the number of this host, set by Kubernetes
///            TRAINYARD_HOST_COUNT   the number of pods
///            TRAINYARD_MEET_AT      HOST or HOST:PORT of pod 0, such as "run-workers-0-0.run" in a JobSet
///            TRAINYARD_JOB          a text that identifies the job, such as its uid; by default the name of pod 0
///            TRAINYARD_RESTARTS     how many times the job was restarted, for example from a JobSet's label
///                                   restart-attempt
/// Errors     kNotFound if the number of pods is not given
class Kubernetes final : public Environment {
 public:
  explicit Kubernetes(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 20; }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
  std::vector<std::string> process_variables() const override { return {"JOB_COMPLETION_INDEX"}; }
};

}  // namespace trainyard
