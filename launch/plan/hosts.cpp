// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/hosts.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "launch/file/toml_reader.h"
#include "launch/plan/automatic.h"
#include "launch/plan/device_request.h"
#include "messages/nearest.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

/// The largest number of hosts. It is more than one launcher can serve, and prevents a mistyped number from producing a
/// huge plan.
constexpr std::int64_t kMostHosts = 1024;

std::optional<std::uint32_t> number_in(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::int64_t read_nodes(const Value& nodes) {
  const auto* text = nodes.get_if<std::string>();
  const Value read = text == nullptr ? nodes : read_command_line_value(*text);
  const auto* count = read.get_if<std::int64_t>();
  if (count != nullptr && *count >= 1 && *count <= kMostHosts) return *count;
  throw not_allowed(nodes, "topology.nodes", fmt::format("a number of hosts from 1 to {}", kMostHosts));
}

std::uint32_t host_of_rank(std::uint32_t rank, const RunHosts& hosts) {
  std::uint32_t host = 0;
  for (; rank >= hosts.ranks[host]; ++host) rank -= hosts.ranks[host];
  return host;
}

Error no_such_host(const ComponentSpec& spec, const RunHosts& hosts) {
  const std::string given = printable(spec.host->text);
  std::string allowed;
  if (hosts.count == 1) {
    allowed = "this run has one host, as topology.nodes says; \"local\", \"127.0.0.1\" or \"localhost\"";
  } else if (hosts.names.empty() && !number_in(spec.host->text)) {
    allowed =
        fmt::format("nobody has told the names of the {} hosts; a number from 0 to {}", hosts.count, hosts.count - 1);
  } else {
    allowed = fmt::format("the hosts have the numbers 0 to {}{}", hosts.count - 1,
                          hosts.names.empty() ? "" : suggestion(given, hosts.names));
  }
  return error_at(spec.host->origin, spec.key + ".host", fmt::format("\"{}\" is not allowed: {}", given, allowed));
}

}  // namespace

std::uint32_t settle_hosts(const LaunchFile& file, const AllottedHosts& allotted, std::vector<Choice>& choices) {
  const bool asked = !allotted.environment.empty();
  const std::uint32_t launches = allotted.count * allotted.launches;
  if (allotted.launches > 1) {
    choices.push_back({"nodes", "", std::to_string(launches),
                       fmt::format("the environment '{}' has started {} launches on each host, and each of them counts "
                                   "as a host with one rank",
                                   allotted.environment, allotted.launches)});
  } else if (!file.topology.nodes && launches > 1) {
    choices.push_back(
        {"nodes", "", std::to_string(launches), fmt::format("the environment '{}' says so", allotted.environment)});
  }
  if (!file.topology.nodes) return launches;
  const auto nodes = static_cast<std::uint32_t>(read_nodes(*file.topology.nodes));
  if (!asked || nodes == allotted.count) return nodes * allotted.launches;
  const char* hint = allotted.count == 1 ? "; an engine must start the same command once on every host, or set "
                                           "TRAINYARD_HOST_NUMBER and TRAINYARD_HOST_COUNT on each"
                                         : "";
  throw error_at(file.topology.nodes->origin, "topology.nodes",
                 fmt::format("{} hosts are not allowed: the environment '{}' says that this launch is on {}{}", nodes,
                             allotted.environment,
                             allotted.count == 1 ? "one host" : fmt::format("{} hosts", allotted.count), hint));
}

std::vector<std::string> names_of_hosts(const AllottedHosts& allotted) {
  std::vector<std::string> names;
  for (const std::string& name : allotted.names) names.insert(names.end(), allotted.launches, name);
  return names;
}

void settle_one_rank_each(LaunchFile& file, const AllottedHosts& allotted) {
  const std::string launches =
      fmt::format("the environment '{}' has started {} launches on each host, one for each rank", allotted.environment,
                  allotted.launches);
  if (file.topology.ranks_per_host) {
    throw error_at(file.topology.ranks_per_host->origin, "topology.ranks_per_host",
                   fmt::format("is not allowed, because {}", launches));
  }
  const auto [found, fresh] = file.topology.given.try_emplace("devices", Value{std::int64_t{allotted.launches}, {}});
  Value& devices = found->second;
  const DeviceRequest request = read_device_request(devices);
  if (request.kind == DeviceRequest::Kind::kAutomatic) devices.data = std::int64_t{1};
  if (request.kind == DeviceRequest::Kind::kAll) devices.data = std::int64_t{allotted.launches};
  const bool counts = request.kind == DeviceRequest::Kind::kCount || request.kind == DeviceRequest::Kind::kIndices;
  if (!counts || request.count == allotted.launches || request.count == 1) return;
  throw not_allowed(
      devices, "topology.devices",
      fmt::format("{}, so it must be {}, or 1 if each launch sees only its own device", launches, allotted.launches));
}

std::vector<std::uint32_t> read_ranks_per_host(const LaunchFile& file, std::uint32_t hosts) {
  const std::optional<Value>& given = file.topology.ranks_per_host;
  if (!given) return {};
  const auto* text = given->get_if<std::string>();
  const Value read = text == nullptr ? *given : read_command_line_value(*text);
  const auto* list = read.get_if<Value::List>();
  std::vector<std::uint32_t> ranks;
  for (const Value& element : list == nullptr ? Value::List{} : *list) {
    const auto* count = element.get_if<std::int64_t>();
    if (count == nullptr || *count < 1 || *count > kMostRanks) break;
    ranks.push_back(static_cast<std::uint32_t>(*count));
  }
  if (list == nullptr || ranks.size() != list->size() || ranks.size() != hosts) {
    throw not_allowed(*given, "topology.ranks_per_host",
                      fmt::format("a list with the number of ranks of each host, at least 1, for {} host{}", hosts,
                                  hosts == 1 ? "" : "s"));
  }
  if (file.topology.given.contains("devices")) {
    throw error_at(given->origin, "topology.ranks_per_host",
                   "is not allowed beside topology.devices, which is the number of ranks of every host");
  }
  return ranks;
}

std::uint32_t host_of(const ComponentSpec& spec, const RunHosts& hosts) {
  if (!spec.host) return 0;
  const auto named = std::ranges::find(hosts.names, spec.host->text);
  if (named != hosts.names.end()) return static_cast<std::uint32_t>(named - hosts.names.begin());
  const std::optional<std::uint32_t> number = number_in(spec.host->text);
  if (!number || *number >= hosts.count) throw no_such_host(spec, hosts);
  return *number;
}

void assign_hosts(std::vector<Draft>& drafts, const RunHosts& hosts) {
  for (Draft& draft : drafts) {
    draft.hosts = hosts.count;
    const bool per_rank = draft.info->component_traits().per_rank;
    if (per_rank && draft.spec->host && hosts.count > 1) {
      throw error_at(draft.spec->host->origin, draft.spec->key + ".host",
                     "is not allowed, because the component exists for each rank, and the ranks have their hosts: the "
                     "first ones are on host 0");
    }
    const std::uint32_t named = host_of(*draft.spec, hosts);
    draft.host = per_rank ? host_of_rank(draft.plan.rank, hosts) : named;
    draft.launches = hosts.launches;
    // Several launches on one machine share its cores and devices, so they count as one host in the plan of a
    // component.
    draft.plan.host = draft.host / hosts.launches;
    const auto first = hosts.ranks.begin() + draft.plan.host * hosts.launches;
    draft.plan.ranks_of_host = std::accumulate(first, first + hosts.launches, std::uint32_t{0});
    draft.plan.first_rank_of_host = std::accumulate(hosts.ranks.begin(), first, std::uint32_t{0});
  }
}

}  // namespace trainyard::launch
