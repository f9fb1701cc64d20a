// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// Flux: the run is started with `flux run ... trainyard launch ...`, with one task on each host or, on a single host,
/// one task for each device.
///
/// Flux does not tell a task the names of the hosts. Set TRAINYARD_HOST_NAMES or TRAINYARD_MEET_AT for a job on several
/// hosts.
///
/// Errors  kInvalidArgument if the job has several hosts, and more tasks than hosts
class Flux final : public Environment {
 public:
  explicit Flux(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 50; }
  std::vector<std::string> starters() const override { return {"flux-shell"}; }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
  std::vector<std::string> process_variables() const override;
};

}  // namespace trainyard
