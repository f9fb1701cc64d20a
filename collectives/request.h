// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/elements.h"

namespace trainyard::collectives {

enum class OperationKind : std::uint8_t { kAllReduce, kBroadcast, kAllGather, kReduceScatter, kBarrier, kSend, kRecv };

/// Returns the name of the operation: "all_reduce", "recv", ...
std::string_view name_of(OperationKind kind);

/// Returns true for send and recv, in which only two members take part. All other operations involve the whole group.
constexpr bool is_message(OperationKind kind) { return kind == OperationKind::kSend || kind == OperationKind::kRecv; }

/// The arguments of one call to a collective's function. Members send each other their requests as plain bytes and
/// compare them, so that different calls cause an error that lists what each rank called.
struct Request {
  OperationKind kind = OperationKind::kBarrier;
  ReduceOp op = ReduceOp::kSum;  ///< How elements are combined, for all_reduce and reduce_scatter.
  DType dtype = DType::kUInt8;
  std::uint8_t unused = 0;
  std::uint32_t member = 0;  ///< The root of a broadcast, or the other member of a send or recv.
  std::uint64_t count = 0;
  std::uint64_t bounds = 0;  ///< A hash of Operation::bounds, the bounds between the members' parts.

  std::uint64_t bytes() const { return count * size_of(dtype); }
  friend bool operator==(const Request&, const Request&) = default;
};
static_assert(sizeof(Request) == 24);

/// Returns a hash of the bounds.
std::uint64_t hash_of(std::span<const std::uint64_t> bounds);

/// Describes a request: "all_reduce(mean) of float32[12]", "broadcast from rank 3 of float32[12]". `ranks` contains the
/// rank of each member.
std::string describe(const Request& request, const std::vector<std::uint32_t>& ranks);

/// Returns a text that lists the requests if they differ: "ranks 0, 1 asked for barrier, rank 2 for ...". Returns an
/// empty string if they agree. `requests` and `ranks` contain the request and the rank of each member.
std::string disagreement(const std::vector<Request>& requests, const std::vector<std::uint32_t>& ranks);

/// Throws kShapeMismatch, naming both ranks, if the message that rank `from` sent does not match the request of rank
/// `to` to receive it.
void check_message(const Request& sent, const Request& wanted, std::uint32_t from, std::uint32_t to);

/// Returns a list of ranks as text: "rank 2", "ranks 1, 2".
std::string name_ranks(const std::vector<std::uint32_t>& ranks);

}  // namespace trainyard::collectives
