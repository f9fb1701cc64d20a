// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environments/environment.h"

namespace trainyard {

/// A list of hosts without an engine such as Slurm: the user starts the run on each host, for instance with ssh or
/// pdsh.
///
/// Parameters  names     the names of the hosts, as the other hosts can resolve them; by default those of the variable
///                       TRAINYARD_HOST_NAMES, a list such as "a,b" or "n[0-3]"
///             meet_at   HOST or HOST:PORT of host 0; by default the name of host 0
/// Variables   TRAINYARD_HOST_NUMBER   the number of this host, from 0; by default the position of this host's own name
///                                     or address in the list
///             TRAINYARD_HOST_COUNT    the number of hosts, if there is no list of names
/// Errors      kNotFound if the number of this host is not given and its name is not in the list exactly once
class Hosts final : public Environment {
 public:
  explicit Hosts(EnvironmentContext& context) : Environment(context) {}

  int precedence() const override { return 10; }
  Detection detect(const ProcessFacts& facts) const override;
  Allocation allocation(const ProcessFacts& facts) const override;
  std::vector<std::string> process_variables() const override { return {"TRAINYARD_HOST_NUMBER"}; }

 private:
  Parameter<std::vector<std::string>> names_{*this, "names", std::vector<std::string>{},
                                             "names of the hosts; by default those in TRAINYARD_HOST_NAMES"};
  Parameter<std::string> meet_at_{*this, "meet_at", "", "HOST or HOST:PORT of host 0; by default its name"};
};

}  // namespace trainyard
