// SPDX-License-Identifier: Apache-2.0
#include "collectives/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "messages/error.h"

namespace trainyard::collectives {

std::string_view name_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::kAllReduce:
      return "all_reduce";
    case OperationKind::kBroadcast:
      return "broadcast";
    case OperationKind::kAllGather:
      return "all_gather";
    case OperationKind::kReduceScatter:
      return "reduce_scatter";
    case OperationKind::kBarrier:
      return "barrier";
    case OperationKind::kSend:
      return "send";
    case OperationKind::kRecv:
      return "recv";
  }
  return "invalid";
}

std::uint64_t hash_of(std::span<const std::uint64_t> bounds) {
  std::uint64_t hash = 0xcbf29ce484222325;  // This is FNV-1a, one number at a time.
  for (const std::uint64_t bound : bounds) hash = (hash ^ bound) * 0x100000001b3;
  return hash;
}

std::string describe(const Request& request, const std::vector<std::uint32_t>& ranks) {
  std::string text(name_of(request.kind));
  if (request.kind == OperationKind::kBarrier) return text;
  if (request.kind == OperationKind::kAllReduce || request.kind == OperationKind::kReduceScatter) {
    text += fmt::format("({})", name_of(request.op));
  }
  if (request.kind == OperationKind::kBroadcast && request.member < ranks.size()) {
    text += fmt::format(" from rank {}", ranks[request.member]);
  }
  return text + fmt::format(" of {}[{}]", name_of(request.dtype), request.count);
}

void check_message(const Request& sent, const Request& wanted, std::uint32_t from, std::uint32_t to) {
  if (sent.dtype == wanted.dtype && sent.count == wanted.count) return;
  throw Error(Code::kShapeMismatch, "rank {} sent {}[{}] to rank {}, which asked for {}[{}]", from, name_of(sent.dtype),
              sent.count, to, name_of(wanted.dtype), wanted.count);
}

std::string disagreement(const std::vector<Request>& requests, const std::vector<std::uint32_t>& ranks) {
  std::vector<Request> different;
  std::vector<std::vector<std::uint32_t>> who;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto same = std::ranges::find(different, requests[i]);
    const auto place = static_cast<std::size_t>(same - different.begin());
    if (same == different.end()) {
      different.push_back(requests[i]);
      who.emplace_back();
    }
    who[place].push_back(ranks[i]);
  }
  if (different.size() < 2) return "";
  std::string text;
  for (std::size_t i = 0; i < different.size(); ++i) {
    // If requests differ only in their bounds, their descriptions are equal, so the text mentions the bounds.
    const bool bounds_matter = std::ranges::any_of(different, [&](const Request& other) {
      Request alike = other;
      alike.bounds = different[i].bounds;
      return other.bounds != different[i].bounds && alike == different[i];
    });
    text += fmt::format("{}{}{} {}{}", i == 0 ? "" : ", ", name_ranks(who[i]), i == 0 ? " asked for" : " for",
                        describe(different[i], ranks), bounds_matter ? " with bounds of its own" : "");
  }
  return text;
}

std::string name_ranks(const std::vector<std::uint32_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

}  // namespace trainyard::collectives
