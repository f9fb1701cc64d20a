// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/hosts.h"
#include "launch/plan/machine.h"
#include "launch/plan/plan.h"

namespace trainyard::launch {

/// A function that returns the hosts that an engine, such as Slurm, has allotted to the run. `environment` is the
/// environment that the launch file names; it has no plugin if the environment is to be detected.
using FindHosts = std::function<AllottedHosts(const PluginSpec& environment)>;

/// Reads, expands and checks the launch file `path`, and returns the plan. `arguments` are the words of the command
/// line: "name=value" for an argument or a key of [topology] or [run], and "component.optimizer.params.lr=0.1" for any
/// other value of the file. The same file, arguments, environment variables, plugins and machine give the same plan. No
/// process of the run is started, and no code of a plugin runs in this process. Without `find_hosts`, the number of
/// hosts is that of the launch file, or 1. Throws Error, with the position in the file, if something is not allowed.
Plan make_plan(const std::string& path, const std::vector<std::string>& arguments, Catalogue& catalogue,
               const Machine& machine = this_machine(), const FindHosts& find_hosts = {});

}  // namespace trainyard::launch
