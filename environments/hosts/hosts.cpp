// SPDX-License-Identifier: Apache-2.0
#include "environments/hosts/hosts.h"

#include <signal.h>

#include "environments/host_list.h"
#include "environments/host_name.h"
#include "environments/meeting_address.h"
#include "environments/variable_reader.h"

namespace trainyard {

using environments::VariableReader;

Detection Hosts::detect(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  if (!names_->empty()) return {true, "the launch file names the hosts"};
  for (const char* name : {"TRAINYARD_HOST_NUMBER", "TRAINYARD_HOST_NAMES"}) {
    if (variables.has(name)) {
      return {true, fmt::format("{} is {}", name, environments::shown(variables.text(name), false))};
    }
  }
  return {false, "neither TRAINYARD_HOST_NUMBER nor TRAINYARD_HOST_NAMES is set"};
}

Allocation Hosts::allocation(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  Allocation allocation;
  allocation.names = *names_;
  if (allocation.names.empty() && variables.has("TRAINYARD_HOST_NAMES")) {
    allocation.names = environments::expand_host_list(variables.text("TRAINYARD_HOST_NAMES"), where());
  }
  if (allocation.names.empty() && !variables.has("TRAINYARD_HOST_COUNT")) {
    throw Error(Code::kNotFound,
                "{}: the hosts are not known; give the parameter 'names', or set TRAINYARD_HOST_NAMES, or set "
                "TRAINYARD_HOST_NUMBER and TRAINYARD_HOST_COUNT",
                where());
  }
  allocation.hosts = allocation.names.empty() ? variables.required_count("TRAINYARD_HOST_COUNT")
                                              : static_cast<std::uint32_t>(allocation.names.size());
  allocation.host = variables.has("TRAINYARD_HOST_NUMBER") || allocation.names.empty()
                        ? variables.required_index("TRAINYARD_HOST_NUMBER", allocation.hosts)
                        : environments::own_number(allocation.names, facts, where(),
                                                   names_->empty() ? "TRAINYARD_HOST_NAMES" : "the parameter 'names'");
  if (!meet_at_->empty()) allocation.meeting = environments::parse_meeting_address(*meet_at_, where(), "meet_at");
  allocation.stop.signals = {SIGINT, SIGTERM};
  return allocation;
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::Hosts, "hosts", "A list of hosts, on each of which the run is started by any means.")
