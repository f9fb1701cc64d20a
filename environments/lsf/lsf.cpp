// SPDX-License-Identifier: Apache-2.0
#include "environments/lsf/lsf.h"

#include <signal.h>

#include "environments/host_name.h"
#include "environments/lsf/host_counts.h"
#include "environments/variable_reader.h"

namespace trainyard {
namespace {

using environments::VariableReader;

constexpr std::uint32_t kMostTasks = 1'000'000;

/// The hosts of the job, and the name of the variable that lists them. LSF does not set LSB_HOSTS if the list would be
/// too long.
struct HostList {
  std::vector<std::string> names;
  std::string source;
};

HostList hosts_of_job(const VariableReader& variables, const ProcessFacts& facts) {
  if (variables.has("LSB_MCPU_HOSTS")) {
    return {lsf::hosts_with_counts(variables.text("LSB_MCPU_HOSTS"), variables.where()), "LSB_MCPU_HOSTS"};
  }
  if (variables.has("LSB_HOSTS")) return {lsf::hosts_of_slots(variables.text("LSB_HOSTS")), "LSB_HOSTS"};
  const std::string path = variables.required_text("LSB_DJOB_HOSTFILE");
  const std::optional<std::string> text = facts.read_file ? facts.read_file(path) : std::nullopt;
  if (!text) {
    throw Error(Code::kIo, "{}: the file {}, which LSB_DJOB_HOSTFILE names, cannot be read, or has more than 1 MiB",
                variables.where(), environments::shown(path));
  }
  return {lsf::hosts_of_slots(*text), "the file of LSB_DJOB_HOSTFILE"};
}

}  // namespace

Detection Lsf::detect(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  if (!variables.has("LSB_JOBID")) return {false, "LSB_JOBID is not set"};
  return {true, fmt::format("LSB_JOBID is {}", environments::shown(variables.text("LSB_JOBID"), false))};
}

Allocation Lsf::allocation(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  const HostList hosts = hosts_of_job(variables, facts);
  Allocation allocation;
  allocation.names = hosts.names;
  allocation.hosts = static_cast<std::uint32_t>(hosts.names.size());
  allocation.host = environments::own_number(hosts.names, facts, where(), hosts.source);
  if (variables.has("JSM_NAMESPACE_LOCAL_SIZE")) {
    allocation.processes = variables.required_number("JSM_NAMESPACE_LOCAL_SIZE", 1, kMostTasks);
    allocation.process = variables.required_index("JSM_NAMESPACE_LOCAL_RANK", allocation.processes);
  }
  const std::string job = variables.required_text("LSB_JOBID");
  const std::uint32_t index = variables.number("LSB_JOBINDEX", 0, 0x7fffffff).value_or(0);
  allocation.job = index == 0 ? job : fmt::format("{}[{}]", job, index);
  // LSF does not state how often the job was restarted.
  allocation.restarts = variables.text("LSB_RESTART") == "Y" ? 1 : 0;
  // LSF sends SIGUSR2 at the run limit of the queue, and kills the job ten minutes later. bkill sends SIGINT and
  // SIGTERM. With `bsub -wa`, LSF sends another signal before the limit.
  allocation.stop.signals = {SIGUSR2, SIGINT, SIGTERM};
  allocation.stop.to_all_processes = true;
  allocation.requeue = {"brequeue", allocation.job};
  return allocation;
}

std::vector<std::string> Lsf::process_variables() const {
  return {"JSM_*", "LS_JOBPID", "LSF_PM_*", "PMIX_*", "PMI_*"};
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::Lsf, "lsf", "LSF: one process of blaunch, or tasks of jsrun, on each host.")
