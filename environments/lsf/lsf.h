// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// LSF: the run is started on every host with `blaunch`, or with one or several tasks of `jsrun` on each host.
///
/// LSF lists the hosts of a job but does not number them, so the number of this host is the position of its name in the
/// list. If there are several tasks on a host, jsrun tells each of them its number on the host.
///
/// Errors  kNotFound if this host's name is not in the list exactly once
class Lsf final : public Environment {
 public:
  explicit Lsf(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 30; }
  std::vector<std::string> starters() const override { return {"res", "jsmd*", "prted_lsf*"}; }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
  std::vector<std::string> process_variables() const override;
};

}  // namespace trainyard
