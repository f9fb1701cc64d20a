// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainyard::open_mpi {

/// What mpirun tells each process about the processes of its job.
struct RankNumbers {
  std::uint32_t rank = 0;         ///< The rank of this process.
  std::uint32_t ranks = 1;        ///< The number of processes of the job.
  std::uint32_t local_rank = 0;   ///< The number of this process on its host.
  std::uint32_t local_ranks = 1;  ///< The number of processes on this host.
  std::uint32_t hosts = 1;        ///< The number of hosts of the job.
  std::uint32_t daemon = 0;       ///< The number of mpirun's daemon on this host; mpirun itself is daemon 0.
};

/// Returns the number of this host, or an empty optional if the numbers do not determine it.
///
/// Daemons are numbered in the order of the hosts. If mpirun runs on a host of the job, that host is host 0, and the
/// number of every host is the number of its daemon. If mpirun runs elsewhere, for instance on a login node, the number
/// of every host is one lower than the number of its daemon. If every host has the same number of processes, the rank
/// of a process shows which of these two cases applies. This works for both ways in which mpirun can assign ranks, by
/// slot and by node. If the hosts have different numbers of processes, the result is empty for at least one process.
std::optional<std::uint32_t> host_of(const RankNumbers& numbers);

}  // namespace trainyard::open_mpi
