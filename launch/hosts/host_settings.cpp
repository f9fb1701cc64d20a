// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_settings.h"

#include <fmt/format.h>

#include "environments/process_facts.h"
#include "launch/hosts/host_key.h"
#include "launch/hosts/join_check.h"
#include "messages/error.h"

namespace trainyard::launch {

HostSettings host_settings(const Plan& plan, const Engine& engine, const std::vector<PluginLabel>& plugins) {
  const Allocation& allocation = engine.allocation;
  if (!allocation.meeting) {
    throw Error(Code::kNotFound,
                "the environment '{}' does not say where the {} hosts meet; set TRAINYARD_MEET_AT to the name or the "
                "address of host 0, on every host",
                engine.environment, plan.hosts);
  }
  const std::string key_file = find_host_key(plan.key_file);
  HostSettings settings{.self = describe_launch(plan, plugins),
                        .meeting = *allocation.meeting,
                        .key = read_host_key(key_file),
                        .key_file = key_file,
                        .join_timeout = plan.join_timeout};
  settings.self.host = number_of_launch(engine);
  settings.self.host_name = environments::facts_of_this_process().host_name;
  // An engine that restarts a job gives it the same name. The number of the restart is added, because agents of the
  // earlier attempt may still exist.
  settings.self.job = fmt::format("{}#{}", allocation.job, allocation.restarts);
  return settings;
}

}  // namespace trainyard::launch
