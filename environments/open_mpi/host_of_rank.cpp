// SPDX-License-Identifier: Apache-2.0
#include "environments/open_mpi/host_of_rank.h"

namespace trainyard::open_mpi {
namespace {

/// Returns true if a process with these numbers can be on host number `host`, provided that every host has the same
/// number of processes and that mpirun assigns ranks by slot or by node.
bool fits(const RankNumbers& numbers, std::uint32_t host) {
  if (std::uint64_t{numbers.hosts} * numbers.local_ranks != numbers.ranks) return false;
  const std::uint64_t by_slot = std::uint64_t{host} * numbers.local_ranks + numbers.local_rank;
  const std::uint64_t by_node = std::uint64_t{numbers.local_rank} * numbers.hosts + host;
  return numbers.rank == by_slot || numbers.rank == by_node;
}

}  // namespace

std::optional<std::uint32_t> host_of(const RankNumbers& numbers) {
  const std::uint32_t daemon = numbers.daemon;
  if (daemon > numbers.hosts) return {};
  if (daemon == 0) return 0;                              // mpirun is on this host.
  if (daemon == numbers.hosts) return numbers.hosts - 1;  // mpirun is on a host without processes.
  const bool same = fits(numbers, daemon), lower = fits(numbers, daemon - 1);
  if (same == lower) return {};
  return same ? daemon : daemon - 1;
}

}  // namespace trainyard::open_mpi
