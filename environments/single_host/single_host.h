// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// No engine (such as Slurm): the user has started the run directly, on this host only. This environment always
/// matches, and is chosen if no other environment does.
class SingleHost final : public Environment {
 public:
  explicit SingleHost(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 0; }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
};

}  // namespace trainyard
