// SPDX-License-Identifier: Apache-2.0
#include "launch/run/engine.h"

#include <fmt/format.h>

#include <cstdlib>

#include "environments/selection.h"
#include "messages/error.h"

namespace trainyard::launch {

Engine find_engine(core::PluginLoader& loader, const PluginSpec& named, const ProcessFacts& facts) {
  // All environments are loaded even if the launch file names one, because each knows which variables of its engine
  // must not be inherited.
  const std::vector<environments::Candidate> candidates = environments::examine_environments(loader, facts);
  Engine engine{.removed = environments::variables_to_remove(candidates, facts.variables)};
  const auto use = [&](const environments::Candidate& candidate) {
    engine.environment = candidate.name;
    engine.allocation = environments::allocation_of(candidate, facts);
  };
  if (!named.plugin.empty()) {
    use(environments::named_environment(loader, named, facts));
    return engine;
  }
  const environments::Candidate& nearest = environments::nearest_environment(candidates, facts);
  try {
    use(nearest);
    engine.reason = nearest.detection.reason;
  } catch (const Error& error) {
    throw Error(error.code(), "{} (this environment was detected because {}; environment=single_host ignores it)",
                error.what(), nearest.detection.reason);
  }
  return engine;
}

std::uint32_t number_of_launch(const Engine& engine) {
  return engine.allocation.host * engine.allocation.processes + engine.allocation.process;
}

std::string describe_launches(const Engine& engine) {
  const Allocation& allocation = engine.allocation;
  if (allocation.processes == 1) return "";
  return fmt::format(
      "the environment '{}' says that this is one of several launches of the same run, one for each rank: host {} of "
      "{}, "
      "process {} of {} on this host{}; environment=single_host makes this launch a run of its own",
      engine.environment, allocation.host, allocation.hosts, allocation.process, allocation.processes,
      engine.reason.empty() ? "" : ", because " + engine.reason);
}

void forget_variables(const Engine& engine) {
  for (const std::string& name : engine.removed) ::unsetenv(name.c_str());
}

}  // namespace trainyard::launch
