// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/memory_flow.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launch/plan/plugin_choice.h"

namespace trainyard::launch {
namespace {

constexpr const char* kMemory = "memory";
constexpr const char* kArena = "ArenaInfo";
constexpr const char* kReadable = "ArenaReadable";
constexpr const char* kSnapshot = "Snapshot";
constexpr const char* kParameters = "Parameters";

const core::PortInfo* find_port(const std::vector<core::PortInfo>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, &core::PortInfo::name);
  return found == ports.end() ? nullptr : &*found;
}

/// Returns the edges over which the component `from` sends messages of this type.
std::vector<const EdgePlan*> edges_of_type(const std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges,
                                           const Draft& from, std::string_view type) {
  std::vector<const EdgePlan*> found;
  for (const EdgePlan& edge : edges) {
    if (edge.from != from.plan.index) continue;
    const core::PortInfo* output = find_port(drafts[edge.from].info->outputs, edge.output);
    if (output != nullptr && output->type == type) found.push_back(&edge);
  }
  return found;
}

std::vector<std::string> receivers(const std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges,
                                   const Draft& from, std::string_view type) {
  std::vector<std::string> names;
  for (const EdgePlan* edge : edges_of_type(drafts, edges, from, type)) names.push_back(drafts[edge->to].plan.name);
  return names;
}

/// Returns true if the component sends messages of the type Parameters, as optimizers do.
bool is_optimizer(const Draft& draft) {
  return std::ranges::find(draft.info->outputs, kParameters, &core::PortInfo::type) != draft.info->outputs.end();
}

bool can_choose_memory(const Draft& draft) {
  return std::ranges::find(draft.info->parameters, kMemory, &ParameterInfo::name) != draft.info->parameters.end();
}

template <class Traits>
Traits traits_of(const PluginChoice& choice, Catalogue& catalogue) {
  try {
    return catalogue.traits<Traits>(choice.name, choice.parameters);
  } catch (const Error& error) {
    throw error_at(choice.place.value.origin, choice.place.key, error.what(), error.code());
  }
}

/// Returns the reason why the optimizer cannot work on the device, or an empty text if it can.
std::string obstacle(const Draft& host, const Draft& optimizer, const EdgePlan& arena, const PluginChoice& accelerator,
                     bool host_memory, Catalogue& catalogue) {
  if (host_memory) return fmt::format("the accelerator {} trains in host memory", accelerator.name);
  if (!can_choose_memory(optimizer)) {
    return fmt::format("the component {} works on host memory", optimizer.plan.name);
  }
  const PluginChoice strategy = plugin_choice(host, StrategyTraits::kPluginKind);
  if (!strategy.name.empty() && traits_of<StrategyTraits>(strategy, catalogue).updates_on_host) {
    return fmt::format("the strategy {} updates parameters in host memory", strategy.name);
  }
  if (arena.transport != Transport::kThread && arena.transport != Transport::kProcess) {
    return fmt::format("{} is not in the process of {}", optimizer.plan.name, host.plan.name);
  }
  return "";
}

/// Returns the value that the file gives for the optimizer's parameter `memory`, or "auto" if it gives none.
std::string wanted(const Draft& optimizer) {
  const auto given = optimizer.given.find(kMemory);
  if (given == optimizer.given.end()) return "auto";
  const auto* text = given->second.value.get_if<std::string>();
  return text == nullptr ? "auto" : *text;
}

void set_memory(Draft& optimizer, const char* memory) {
  if (!can_choose_memory(optimizer)) return;
  auto parameters = nlohmann::json::parse(optimizer.plan.parameters);
  parameters[kMemory] = memory;
  optimizer.plan.parameters = parameters.dump();
}

}  // namespace

std::vector<MemoryFlow> settle_memory(std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges,
                                      Catalogue& catalogue) {
  std::vector<MemoryFlow> flows;
  for (const Draft& host : drafts) {
    const PluginChoice accelerator = plugin_choice(host, AcceleratorReport::kPluginKind);
    if (accelerator.name.empty()) continue;
    const bool host_memory = traits_of<AcceleratorReport>(accelerator, catalogue).traits.host_memory;
    MemoryFlow flow{.rank = host.plan.rank,
                    .accelerator = accelerator.name,
                    .host_updates_because = {},
                    .readers = receivers(drafts, edges, host, kReadable),
                    .savers = receivers(drafts, edges, host, kSnapshot)};
    for (const EdgePlan* arena : edges_of_type(drafts, edges, host, kArena)) {
      Draft& optimizer = drafts[arena->to];
      if (!is_optimizer(optimizer)) continue;
      const std::string reason = obstacle(host, optimizer, *arena, accelerator, host_memory, catalogue);
      const std::string memory = wanted(optimizer);
      if (memory == "device" && !reason.empty()) {
        const GivenParameter& given = optimizer.given.at(kMemory);
        throw error_at(given.value.origin, given.key,
                       fmt::format("\"device\" is not possible, because {}; allowed: \"auto\", \"host\"", reason));
      }
      flow.host_updates_because = memory == "host" ? "memory = \"host\" is given" : reason;
      if (!host_memory) set_memory(optimizer, flow.host_updates_because.empty() ? "device" : "host");
    }
    if (!host_memory) flows.push_back(std::move(flow));
  }
  return flows;
}

}  // namespace trainyard::launch
