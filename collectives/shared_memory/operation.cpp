#include "collectives/shared_memory/operation.h"

#include <fmt/format.h>

namespace trainyard::shared_memory {
namespace {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kAllReduce:
      return "all_reduce";
    case Kind::kBroadcast:
      return "broadcast";
    case Kind::kAllGather:
      return "all_gather";
    case Kind::kReduceScatter:
      return "reduce_scatter";
    case Kind::kBarrier:
      return "barrier";
    case Kind::kSend:
      return "send";
    case Kind::kRecv:
      return "recv";
  }
  return "invalid";
}

}  // namespace

std::string words_of(const Request& request, std::uint32_t root) {
  std::string words = name_of(request.kind);
  if (request.kind == Kind::kBarrier) return words;
  if (request.kind == Kind::kAllReduce || request.kind == Kind::kReduceScatter) {
    words += fmt::format("({})", trainyard::name_of(request.op));
  }
  words += fmt::format(" of {}[{}]", trainyard::name_of(request.dtype), request.count);
  if (request.kind == Kind::kBroadcast || request.kind == Kind::kRecv) words += fmt::format(" from rank {}", root);
  if (request.kind == Kind::kSend) words += fmt::format(" to rank {}", root);
  return words;
}

// FNV-1a, over whole numbers.
std::uint64_t hash_of(const std::vector<std::uint64_t>& bounds) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::uint64_t bound : bounds) hash = (hash ^ bound) * 1099511628211u;
  return hash;
}

}  // namespace trainyard::shared_memory
