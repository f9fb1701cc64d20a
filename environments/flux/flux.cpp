// SPDX-License-Identifier: Apache-2.0
#include "environments/flux/flux.h"

#include <signal.h>

#include "environments/variable_reader.h"

namespace trainyard {
namespace {

using environments::VariableReader;

constexpr std::uint32_t kMostTasks = 1'000'000;

}  // namespace

Detection Flux::detect(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  if (!variables.has("FLUX_TASK_RANK")) return {false, "FLUX_TASK_RANK is not set"};
  return {true, fmt::format("FLUX_TASK_RANK is {}", environments::shown(variables.text("FLUX_TASK_RANK"), false))};
}

Allocation Flux::allocation(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  Allocation allocation;
  const std::uint32_t tasks = variables.required_number("FLUX_JOB_SIZE", 1, kMostTasks);
  const std::uint32_t task = variables.required_index("FLUX_TASK_RANK", tasks);
  allocation.hosts = variables.required_count("FLUX_JOB_NNODES");
  if (allocation.hosts == 1) {
    allocation.processes = tasks;
    allocation.process = task;
    if (!facts.host_name.empty()) allocation.names = {facts.host_name};
  } else if (tasks == allocation.hosts) {
    allocation.host = task;
  } else {
    throw Error(Code::kInvalidArgument,
                "{}: {} tasks on {} hosts; Flux does not tell a task on which host it is, so start one on each host: "
                "flux run --nodes={} --tasks-per-node=1",
                where(), tasks, allocation.hosts, allocation.hosts);
  }
  allocation.job = variables.text("FLUX_JOB_ID");
  // `flux cancel` sends SIGTERM. The option `--signal` makes Flux send a signal before the time limit, SIGUSR1 by
  // default.
  allocation.stop.signals = {SIGTERM, SIGUSR1, SIGALRM};
  allocation.stop.to_all_processes = true;
  return allocation;
}

std::vector<std::string> Flux::process_variables() const {
  return {"FLUX_TASK_*", "FLUX_JOB_SIZE", "FLUX_JOB_NNODES", "FLUX_PMI_*", "PMI_*", "PMIX_*"};
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::Flux, "flux", "Flux: one task of flux run on each host.")
