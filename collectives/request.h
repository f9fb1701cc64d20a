#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/collective.h"

namespace trainyard {

enum class OperationKind : std::uint8_t { kAllReduce, kBroadcast, kAllGather, kReduceScatter, kBarrier, kSend, kRecv };

/// What is asked of the group by one call; all members must ask for the same. Plain data: it travels between members of
/// one host as it is.
struct Request {
  OperationKind kind = OperationKind::kBarrier;
  ReduceOp op = ReduceOp::kSum;  ///< Of all_reduce and reduce_scatter.
  DType dtype = DType::kUInt8;
  std::uint8_t unused = 0;
  std::uint32_t member = 0;  ///< Root of a broadcast.
  std::uint64_t count = 0;
  std::uint64_t bounds = 0;  ///< Hash of the bounds that were given.

  friend bool operator==(const Request&, const Request&) = default;
};
static_assert(sizeof(Request) == 24);

/// A number that differs for different bounds.
std::uint64_t hash_of(std::span<const std::uint64_t> bounds);

/// "all_reduce(mean) of float32[12]", "broadcast from rank 3 of float32[12]"; `ranks`: of the members.
std::string describe(const Request& request, const std::vector<std::uint32_t>& ranks);

/// Says who asked for what, if not all have asked for the same: "ranks 0, 1 asked for a barrier, rank 2 for ...". Empty
/// if they have. `requests`: one per member.
std::string disagreement(const std::vector<Request>& requests, const std::vector<std::uint32_t>& ranks);

/// "rank 2", "ranks 1, 2".
std::string name_ranks(const std::vector<std::uint32_t>& ranks);

}  // namespace trainyard
