// SPDX-License-Identifier: Apache-2.0
#include "environments/allocation.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "environments/host_name.h"
#include "messages/error.h"

namespace trainyard::environments {
namespace {

void check_number(const std::string& where, std::string_view what, std::uint32_t number, std::uint32_t count) {
  if (number < count) return;
  throw Error(Code::kInvalidArgument, "{}: this is {} {} of {}; allowed: numbers from 0 to {}", where, what, number,
              count, count - std::min(count, 1u));
}

void check_names(const Allocation& allocation, const std::string& where) {
  if (allocation.names.empty()) return;
  if (allocation.names.size() != allocation.hosts) {
    throw Error(Code::kInvalidArgument, "{}: there are {} hosts, but {} names of hosts", where, allocation.hosts,
                allocation.names.size());
  }
  std::set<std::string_view> seen;
  for (const std::string& name : allocation.names) {
    check_host_name(name, where);
    if (!seen.insert(name).second) {
      throw Error(Code::kInvalidArgument, "{}: the host '{}' occurs twice among the names of the hosts", where, name);
    }
  }
}

}  // namespace

void check_allocation(const Allocation& allocation, const std::string& where) {
  if (allocation.hosts > kMostHosts) {
    throw Error(Code::kInvalidArgument, "{}: {} hosts; at most {} are allowed", where, allocation.hosts, kMostHosts);
  }
  check_number(where, "host", allocation.host, allocation.hosts);
  check_number(where, "process", allocation.process, allocation.processes);
  check_names(allocation, where);
  if (allocation.meeting) check_host_name(allocation.meeting->host, where);
}

}  // namespace trainyard::environments
