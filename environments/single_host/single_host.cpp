// SPDX-License-Identifier: Apache-2.0
#include "environments/single_host/single_host.h"

#include <signal.h>

namespace trainyard {

Detection SingleHost::detect(const ProcessFacts&) const {
  return {true, "no engine that Trainyard knows has started this process"};
}

Allocation SingleHost::allocation(const ProcessFacts& facts) const {
  Allocation allocation;
  if (!facts.host_name.empty()) allocation.names = {facts.host_name};
  allocation.stop.signals = {SIGINT, SIGTERM};
  return allocation;
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::SingleHost, "single_host", "No engine: the run is on this host alone.")
