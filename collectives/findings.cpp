// SPDX-License-Identifier: Apache-2.0
#include "collectives/findings.h"

#include <fmt/format.h>

namespace trainyard::collectives {

std::string Findings::name(const Operation& operation) const {
  const Request& request = operation.request;
  if (!operation.is_message()) {
    return fmt::format("operation {} of group '{}', {}", operation.order, group_, describe(request, ranks_));
  }
  const bool sends = request.kind == OperationKind::kSend;
  return fmt::format("message {} from rank {} to rank {} in group '{}', {}[{}]", operation.order,
                     ranks_[sends ? own_ : request.member], ranks_[sends ? request.member : own_], group_,
                     name_of(request.dtype), request.count);
}

Failure Findings::disagreement(const Operation& operation, const std::vector<Request>& requests) const {
  return {Code::kShapeMismatch, fmt::format("operation {} of group '{}': {}", operation.order, group_,
                                            collectives::disagreement(requests, ranks_))};
}

Failure Findings::gone(const std::vector<std::uint32_t>& members, Presence how, const Operation& operation) const {
  const bool one = members.size() == 1;
  const char* what = how == Presence::kLeft ? "left the group"
                     : one                  ? "is gone (its process ended or was killed)"
                                            : "are gone (their processes ended or were killed)";
  return {Code::kPeerLost, fmt::format("{} {} before {} was finished", ranks_of(members), what, name(operation))};
}

Failure Findings::silent(const std::vector<std::uint32_t>& members, const QueuedOperation& held,
                         std::chrono::milliseconds timeout) const {
  const double seconds = static_cast<double>(timeout.count()) / 1000;
  if (held.stage < Stage::kAgreed && !held.operation.is_message()) {
    return {Code::kTimeout,
            fmt::format("{} did not come to {} within {:.3g} s", ranks_of(members), name(held.operation), seconds)};
  }
  return {Code::kTimeout, fmt::format("{} {} been silent for {:.3g} s in {}", ranks_of(members),
                                      members.size() == 1 ? "has" : "have", seconds, name(held.operation))};
}

Failure Findings::broken(const std::vector<std::uint32_t>& silent, const std::string& what) const {
  if (silent.empty()) return {Code::kIo, what};
  return {Code::kTimeout,
          fmt::format("{} {} not answer, and then: {}", ranks_of(silent), silent.size() == 1 ? "does" : "do", what)};
}

Failure Findings::aborted(const std::string& reason) const {
  return {Code::kPeerLost, fmt::format("rank {} gave up group '{}': {}", ranks_[own_], group_, reason)};
}

Failure Findings::different_memory(std::uint32_t member, std::uint64_t bytes, std::uint64_t bytes_of_first) const {
  return {Code::kShapeMismatch, fmt::format("rank {} uses memory of {} bytes, rank {} of {} bytes", ranks_[0],
                                            bytes_of_first, ranks_[member], bytes)};
}

Failure Findings::cannot_map(const Error& error) const {
  return {error.code(), fmt::format("rank {} cannot reach the memory of the others: {}", ranks_[own_], error.what())};
}

std::string Findings::ranks_of(const std::vector<std::uint32_t>& members) const {
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t member : members) ranks.push_back(ranks_[member]);
  return name_ranks(ranks);
}

}  // namespace trainyard::collectives
