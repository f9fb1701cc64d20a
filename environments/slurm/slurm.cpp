// SPDX-License-Identifier: Apache-2.0
#include "environments/slurm/slurm.h"

#include <signal.h>

#include "environments/host_list.h"
#include "environments/slurm/task_counts.h"
#include "environments/variable_reader.h"

namespace trainyard {

// Inside a job step, only the variables of the step are used: those of the job also describe hosts and tasks that do
// not belong to the step, and some, such as SLURM_NTASKS, are set only for certain options of sbatch.

namespace {

using environments::VariableReader;

constexpr std::uint32_t kMostTasks = 1'000'000;
constexpr std::uint32_t kMostDevices = 1024;

[[noreturn]] void refuse_without_srun(const VariableReader& variables, std::string_view place) {
  throw Error(Code::kInvalidArgument,
              "{}: this process is {} of job {}, so Slurm has started it only once; start it on every host with `srun "
              "trainyard launch ...`",
              variables.where(), place, environments::shown(variables.text("SLURM_JOB_ID"), false));
}

/// Returns the allocation of a batch script. Slurm runs the script only on the first host of its job, so this is an
/// error if the job has several hosts.
Allocation allocation_of_batch_script(const VariableReader& variables) {
  if (!variables.has("SLURMD_NODENAME")) refuse_without_srun(variables, "in the shell of salloc");
  Allocation allocation;
  allocation.hosts = variables.number("SLURM_JOB_NUM_NODES", 1, environments::kMostHosts).value_or(1);
  if (allocation.hosts > 1) refuse_without_srun(variables, "in the batch script");
  allocation.names = {variables.required_text("SLURMD_NODENAME")};
  return allocation;
}

/// Reads "17000-17003", or a list of such ranges.
std::vector<std::uint16_t> reserved_ports(const VariableReader& variables) {
  constexpr std::size_t kMostPorts = 64;
  std::vector<std::uint16_t> ports;
  const std::string_view text = variables.text("SLURM_STEP_RESV_PORTS");
  for (std::size_t begin = 0; begin < text.size() && ports.size() < kMostPorts;) {
    const std::string_view item = text.substr(begin, text.find(',', begin) - begin);
    const std::string_view low = item.substr(0, item.find('-'));
    const std::string_view high = low.size() == item.size() ? low : item.substr(low.size() + 1);
    const auto first = environments::parse_number(low, 1, 65535), last = environments::parse_number(high, 1, 65535);
    if (!first || !last) {
      throw Error(Code::kInvalidArgument, "{}: SLURM_STEP_RESV_PORTS is {}; allowed: ports such as 17000-17003",
                  variables.where(), environments::shown(text));
    }
    for (std::uint32_t port = *first; port <= *last && ports.size() < kMostPorts; ++port) {
      ports.push_back(static_cast<std::uint16_t>(port));
    }
    begin += item.size() + 1;
  }
  return ports;
}

Allocation allocation_of_step(const VariableReader& variables) {
  Allocation allocation;
  allocation.names = environments::expand_host_list(variables.required_text("SLURM_STEP_NODELIST"), variables.where());
  allocation.hosts = variables.required_count("SLURM_STEP_NUM_NODES");
  allocation.host = variables.required_index("SLURM_NODEID", allocation.hosts);
  const std::string tasks = variables.required_text("SLURM_STEP_TASKS_PER_NODE");
  const std::vector<std::uint32_t> counts = slurm::expand_task_counts(tasks, variables.where());
  if (counts.size() != allocation.hosts) {
    throw Error(Code::kInvalidArgument, "{}: SLURM_STEP_NUM_NODES is {}, but SLURM_STEP_TASKS_PER_NODE, {}, is for {}",
                variables.where(), allocation.hosts, environments::shown(tasks), counts.size());
  }
  allocation.processes = counts[allocation.host];
  allocation.process = variables.required_index("SLURM_LOCALID", allocation.processes);
  allocation.meeting = MeetingPlace{allocation.names.front(), reserved_ports(variables)};
  return allocation;
}

/// Returns the number of the job. For a task of a job array, this is the task's own job number, which `scontrol
/// requeue` accepts, too.
std::string job_of(const VariableReader& variables) {
  return std::to_string(variables.required_number("SLURM_JOB_ID", 1, 0xfffffffe));
}

}  // namespace

Detection Slurm::detect(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  if (!variables.has("SLURM_JOB_ID")) return {false, "SLURM_JOB_ID is not set"};
  return {true, fmt::format("SLURM_JOB_ID is {}", environments::shown(variables.text("SLURM_JOB_ID"), false))};
}

Allocation Slurm::allocation(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  const bool in_step = variables.has("SLURM_STEP_NODELIST");
  Allocation allocation = in_step ? allocation_of_step(variables) : allocation_of_batch_script(variables);
  const std::string job = job_of(variables);
  // The name contains the number of the step, because two steps of one job can run at the same time.
  allocation.job = in_step ? fmt::format("{}.{}", job, variables.required_number("SLURM_STEP_ID", 0, 0xffffffff)) : job;
  allocation.devices = variables.number("SLURM_GPUS_ON_NODE", 0, kMostDevices);
  allocation.restarts = variables.number("SLURM_RESTART_COUNT", 0, 1'000'000).value_or(0);
  // Slurm sends SIGTERM at the time limit and for scancel, and kills the job after KillWait, which is 30 s unless the
  // administrator has changed it. With `--signal`, Slurm sends another signal before the time limit.
  allocation.stop.signals = {SIGTERM, SIGUSR1, SIGUSR2};
  allocation.stop.to_all_processes = true;
  allocation.stop.grace = std::chrono::seconds(30);
  if (const auto end = variables.number("SLURM_JOB_END_TIME", 1, 0xffffffff)) {
    allocation.stop.end = std::chrono::system_clock::from_time_t(static_cast<std::time_t>(*end));
  }
  allocation.requeue = {"scontrol", "requeue", job};
  return allocation;
}

std::vector<std::string> Slurm::process_variables() const {
  return {"SLURM_PROCID",
          "SLURM_LOCALID",
          "SLURM_NODEID",
          "SLURM_TASK_PID",
          "SLURM_GTIDS",
          "SLURM_NTASKS",
          "SLURM_NPROCS",
          "SLURM_STEP_*",
          "SLURM_STEPID",
          "SLURM_SRUN_*",
          "SLURM_MPI_*",
          "SLURM_PMI*",
          "SLURM_CPU_BIND*",
          "SLURM_MEM_BIND*",
          "PMI_*",
          "PMI2_*",
          "PMIX_*",
          "SLURM_DISTRIBUTION",
          "SLURM_LAUNCH_NODE_IPADDR"};
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::Slurm, "slurm", "Slurm: one or several tasks of srun on each host.")
