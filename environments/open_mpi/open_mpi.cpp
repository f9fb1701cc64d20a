// SPDX-License-Identifier: Apache-2.0
#include "environments/open_mpi/open_mpi.h"

#include <signal.h>

#include "environments/open_mpi/host_of_rank.h"
#include "environments/variable_reader.h"

namespace trainyard {
namespace {

using environments::VariableReader;

constexpr std::uint32_t kMostRanks = 1'000'000;

/// An address of a daemon: "JOB.NUMBER;tcp://ADDRESS,ADDRESS:PORT;tcp6://[ADDRESS]:PORT".
struct DaemonUri {
  std::string job;
  std::uint32_t number = 0;
  std::string address;  ///< The first IPv4 address; empty if there is none.
};

DaemonUri parse_uri(const VariableReader& variables, std::string_view name) {
  const std::string text = variables.required_text(name);
  const std::string_view identity = std::string_view(text).substr(0, text.find(';'));
  const std::size_t dot = identity.find('.');
  const auto number = dot == identity.npos
                          ? std::nullopt
                          : environments::parse_number(identity.substr(dot + 1), 0, environments::kMostHosts);
  if (!number) {
    throw Error(Code::kInvalidArgument, "{}: {} is {}; allowed: JOB.NUMBER;tcp://ADDRESS:PORT", variables.where(), name,
                environments::shown(text));
  }
  DaemonUri uri{std::string(identity.substr(0, dot)), *number, ""};
  constexpr std::string_view kTcp = ";tcp://";
  if (const std::size_t begin = text.find(kTcp); begin != text.npos) {
    const std::size_t from = begin + kTcp.size();
    uri.address = text.substr(from, text.find_first_of(",:;", from) - from);
  }
  return uri;
}

/// Returns the number of this host. On a single host it is 0, whatever is known about daemons.
std::uint32_t number_of_host(const VariableReader& variables, const open_mpi::RankNumbers& numbers) {
  if (numbers.hosts == 1) return 0;
  if (const auto host = open_mpi::host_of(numbers)) return *host;
  throw Error(
      Code::kInvalidArgument,
      "{}: rank {} of {} is process {} of {} on its host, with daemon {} of mpirun, which does not determine the "
      "number of the host; start one process on each host: mpirun --map-by ppr:1:node",
      variables.where(), numbers.rank, numbers.ranks, numbers.local_rank, numbers.local_ranks, numbers.daemon);
}

}  // namespace

Detection OpenMpi::detect(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  if (!variables.has("OMPI_COMM_WORLD_RANK")) return {false, "OMPI_COMM_WORLD_RANK is not set"};
  if (variables.has("JSM_NAMESPACE_RANK")) return {false, "JSM_NAMESPACE_RANK is set, so jsrun set the OMPI variables"};
  return {true, fmt::format("OMPI_COMM_WORLD_RANK is {}",
                            environments::shown(variables.text("OMPI_COMM_WORLD_RANK"), false))};
}

Allocation OpenMpi::allocation(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  open_mpi::RankNumbers numbers;
  numbers.ranks = variables.required_number("OMPI_COMM_WORLD_SIZE", 1, kMostRanks);
  numbers.rank = variables.required_index("OMPI_COMM_WORLD_RANK", numbers.ranks);
  numbers.local_ranks = variables.required_number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, numbers.ranks);
  numbers.local_rank = variables.required_index("OMPI_COMM_WORLD_LOCAL_RANK", numbers.local_ranks);
  const DaemonUri mpirun = parse_uri(variables, "OMPI_MCA_orte_hnp_uri");
  numbers.daemon = parse_uri(variables, "OMPI_MCA_orte_local_daemon_uri").number;
  // OMPI_MCA_orte_num_nodes counts the hosts that mpirun was given. A job can use fewer of them, in particular only
  // one.
  numbers.hosts = numbers.local_ranks == numbers.ranks ? 1 : variables.required_count("OMPI_MCA_orte_num_nodes");

  Allocation allocation;
  allocation.hosts = numbers.hosts;
  allocation.host = number_of_host(variables, numbers);
  allocation.process = numbers.local_rank;
  allocation.processes = numbers.local_ranks;
  const bool mpirun_on_host_0 = numbers.daemon == allocation.host;
  if (numbers.hosts > 1 && mpirun_on_host_0 && !mpirun.address.empty()) {
    allocation.meeting = MeetingPlace{mpirun.address, {}};
  }
  allocation.job = mpirun.job;
  // mpirun forwards SIGUSR1 and SIGUSR2. It sends SIGKILL 1 s after SIGTERM (its parameter odls_base_sigkill_timeout).
  allocation.stop.signals = {SIGTERM, SIGUSR1, SIGUSR2};
  allocation.stop.grace = std::chrono::seconds(1);
  return allocation;
}

/// The list does not contain settings of the user, such as OMPI_MCA_btl and OMPI_ALLOW_RUN_AS_ROOT.
std::vector<std::string> OpenMpi::process_variables() const {
  return {"OMPI_COMM_WORLD_*",
          "OMPI_UNIVERSE_SIZE",
          "OMPI_APP_CTX_NUM_PROCS",
          "OMPI_NUM_APP_CTX",
          "OMPI_FIRST_RANKS",
          "OMPI_ARGV",
          "OMPI_COMMAND",
          "OMPI_FILE_LOCATION",
          "OMPI_MCA_ess*",
          "OMPI_MCA_orte_*",
          "OMPI_MCA_pmix*",
          "OMPI_MCA_initial_wdir",
          "OMPI_MCA_mpi_oversubscribe",
          "OMPI_MCA_rmaps_base_oversubscribe",
          "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
          "PMIX_*",
          "PRTE_*",
          "IPATH_NO_BACKTRACE"};
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::OpenMpi, "open_mpi", "Open MPI: one or several processes of mpirun on each host.")
