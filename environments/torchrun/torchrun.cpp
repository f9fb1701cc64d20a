// SPDX-License-Identifier: Apache-2.0
#include "environments/torchrun/torchrun.h"

#include <signal.h>

#include "environments/job_ports.h"
#include "environments/variable_reader.h"

namespace trainyard {
namespace {

using environments::VariableReader;

constexpr std::uint32_t kMostRanks = 1'000'000;
constexpr std::uint32_t kMostDevices = 1024;

/// The sets of variables that PyTorch's launchers use.
enum class Form {
  kNone,
  kProcesses,  ///< torchrun or Ray Train has started one process for each device, or one for the host.
  kPod,        ///< Kubeflow Trainer has set the variables for torchrun, but the pod runs `trainyard launch` instead.
  kOldPod,     ///< Kubeflow's PyTorchJob has set the variables, in which a "rank" is a pod.
};

Form form_of(const VariableReader& variables) {
  if (variables.has("RANK") && variables.has("LOCAL_RANK")) return Form::kProcesses;
  if (variables.has("PET_NODE_RANK")) return Form::kPod;
  if (variables.has("RANK") && variables.has("WORLD_SIZE") && variables.has("MASTER_ADDR")) return Form::kOldPod;
  return Form::kNone;
}

/// Returns the number of hosts, assuming that every host has the same number of processes.
std::uint32_t even_hosts(const VariableReader& variables, std::uint32_t ranks, std::uint32_t local_ranks) {
  if (ranks % local_ranks == 0) return ranks / local_ranks;
  throw Error(Code::kInvalidArgument,
              "{}: GROUP_WORLD_SIZE is not set, and WORLD_SIZE, {}, is not a multiple of LOCAL_WORLD_SIZE, {}, so the "
              "number of hosts is not known",
              variables.where(), ranks, local_ranks);
}

/// Returns the ports at which the hosts can meet. With TORCHELASTIC_USE_AGENT_STORE, torchrun's own server occupies
/// MASTER_PORT, so the ports above it are returned.
std::vector<std::uint16_t> meeting_ports(const VariableReader& variables, std::string_view name) {
  const std::uint32_t port = variables.required_number(name, 1, 65535);
  if (variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True") return environments::ports_from(port + 1);
  return {static_cast<std::uint16_t>(port)};
}

void read_restarts(const VariableReader& variables, Allocation& allocation) {
  allocation.restarts = variables.number("TORCHELASTIC_RESTART_COUNT", 0, 1'000'000).value_or(0);
  const std::uint32_t most = variables.number("TORCHELASTIC_MAX_RESTARTS", 0, 1'000'000).value_or(0);
  allocation.restarts_failures = allocation.restarts < most;
}

Allocation allocation_of_processes(const VariableReader& variables) {
  const std::uint32_t ranks = variables.required_number("WORLD_SIZE", 1, kMostRanks);
  variables.required_index("RANK", ranks);
  Allocation allocation;
  allocation.processes = variables.required_number("LOCAL_WORLD_SIZE", 1, ranks);
  allocation.process = variables.required_index("LOCAL_RANK", allocation.processes);
  const auto hosts = variables.number("GROUP_WORLD_SIZE", 1, environments::kMostHosts);
  allocation.hosts = hosts ? *hosts : even_hosts(variables, ranks, allocation.processes);
  allocation.host =
      variables.required_index(variables.has("GROUP_RANK") ? "GROUP_RANK" : "NODE_RANK", allocation.hosts);
  if (variables.has("MASTER_ADDR")) {
    allocation.meeting = MeetingPlace{variables.required_text("MASTER_ADDR"), meeting_ports(variables, "MASTER_PORT")};
  }
  allocation.job = variables.text("TORCHELASTIC_RUN_ID");
  return allocation;
}

Allocation allocation_of_pod(const VariableReader& variables) {
  const std::string hosts = variables.required_text("PET_NNODES");
  if (hosts.find(':') != hosts.npos) {
    throw Error(Code::kInvalidArgument,
                "{}: PET_NNODES is {}, an elastic number of hosts; allowed: a fixed number of hosts", variables.where(),
                environments::shown(hosts));
  }
  Allocation allocation;
  allocation.hosts = variables.required_count("PET_NNODES");
  allocation.host = variables.required_index("PET_NODE_RANK", allocation.hosts);
  // The variable can also be "auto", "cpu" or "gpu". The number of devices is then unknown.
  allocation.devices = environments::parse_number(variables.text("PET_NPROC_PER_NODE"), 1, kMostDevices);
  if (variables.has("PET_MASTER_ADDR")) {
    allocation.meeting =
        MeetingPlace{variables.required_text("PET_MASTER_ADDR"), meeting_ports(variables, "PET_MASTER_PORT")};
  }
  allocation.job = variables.text("PET_MASTER_ADDR");
  allocation.restarts_failures = true;
  return allocation;
}

Allocation allocation_of_old_pod(const VariableReader& variables) {
  Allocation allocation;
  allocation.hosts = variables.required_count("WORLD_SIZE");
  allocation.host = variables.required_index("RANK", allocation.hosts);
  allocation.meeting = MeetingPlace{variables.required_text("MASTER_ADDR"), meeting_ports(variables, "MASTER_PORT")};
  allocation.job = allocation.meeting->host;
  return allocation;
}

}  // namespace

Detection Torchrun::detect(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  const auto shown = [&](std::string_view name) { return environments::shown(variables.text(name), false); };
  switch (form_of(variables)) {
    case Form::kProcesses:
      return {true, fmt::format("RANK is {} and LOCAL_RANK is {}", shown("RANK"), shown("LOCAL_RANK"))};
    case Form::kPod:
      return {true, fmt::format("PET_NODE_RANK is {}", shown("PET_NODE_RANK"))};
    case Form::kOldPod:
      return {true, fmt::format("RANK is {} and MASTER_ADDR is set, but LOCAL_RANK is not, so a rank is a host",
                                shown("RANK"))};
    case Form::kNone:
      break;
  }
  return {false, "neither RANK with LOCAL_RANK or MASTER_ADDR nor PET_NODE_RANK is set"};
}

Allocation Torchrun::allocation(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  Allocation allocation;
  switch (form_of(variables)) {
    case Form::kPod:
      allocation = allocation_of_pod(variables);
      break;
    case Form::kOldPod:
      allocation = allocation_of_old_pod(variables);
      break;
    case Form::kProcesses:
    case Form::kNone:  // The error names the missing variable.
      allocation = allocation_of_processes(variables);
      read_restarts(variables, allocation);
      break;
  }
  // torchrun and Kubernetes both send SIGTERM, and SIGKILL 30 s later by default.
  allocation.stop.signals = {SIGTERM};
  allocation.stop.grace = std::chrono::seconds(30);
  return allocation;
}

std::vector<std::string> Torchrun::process_variables() const {
  return {"RANK",           "LOCAL_RANK",
          "WORLD_SIZE",     "LOCAL_WORLD_SIZE",
          "GROUP_RANK",     "GROUP_WORLD_SIZE",
          "ROLE_RANK",      "ROLE_NAME",
          "NODE_RANK",      "ROLE_WORLD_SIZE",
          "MASTER_ADDR",    "MASTER_PORT",
          "TORCHELASTIC_*", "TORCH_NCCL_ASYNC_ERROR_HANDLING",
          "PET_*"};
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::Torchrun, "torchrun", "torchrun, Ray Train, Kubeflow Trainer and PyTorchJob.")
