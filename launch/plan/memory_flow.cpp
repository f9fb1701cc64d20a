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
constexpr const char* kState = "OptimizerState";
constexpr std::string_view kDevice = "device";
constexpr std::string_view kCollective = "collective";

const core::PortInfo* find_port(const std::vector<core::PortInfo>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, &core::PortInfo::name);
  return found == ports.end() ? nullptr : &*found;
}

/// The edges of a plan, by the component that sends over them.
class EdgesBySender {
 public:
  EdgesBySender(const std::vector<Draft>& drafts, const std::vector<EdgePlan>& edges)
      : drafts_(drafts), edges_(drafts.size()) {
    for (const EdgePlan& edge : edges) edges_[edge.from].push_back(&edge);
  }

  /// Returns the edges over which the component `from` sends messages of this type.
  std::vector<const EdgePlan*> of_type(const Draft& from, std::string_view type) const {
    std::vector<const EdgePlan*> found;
    for (const EdgePlan* edge : edges_[from.plan.index]) {
      const core::PortInfo* output = find_port(from.info->outputs, edge->output);
      if (output != nullptr && output->type == type) found.push_back(edge);
    }
    return found;
  }

  /// Returns the names of the components to which the component `from` sends messages of this type.
  std::vector<std::string> receivers(const Draft& from, std::string_view type) const {
    std::vector<std::string> names;
    for (const EdgePlan* edge : of_type(from, type)) names.push_back(drafts_[edge->to].plan.name);
    return names;
  }

 private:
  const std::vector<Draft>& drafts_;
  std::vector<std::vector<const EdgePlan*>> edges_;
};

/// Returns true if the component sends messages of the type Parameters, as optimizers do.
bool is_optimizer(const Draft& draft) {
  return std::ranges::find(draft.info->outputs, kParameters, &core::PortInfo::type) != draft.info->outputs.end();
}

/// Returns true if the component computes with an accelerator, as accelerator hosts do.
bool trains(const Draft& draft) { return !plugin_choice(draft, AcceleratorReport::kPluginKind).name.empty(); }

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

/// An accelerator host and the optimizer of its rank, with the edge over which the optimizer learns of the arena.
struct Pair {
  const Draft& host;
  const Draft& optimizer;
  const EdgePlan& arena;

  bool one_process() const { return arena.transport == Transport::kThread || arena.transport == Transport::kProcess; }
};

/// Returns the reason why an optimizer in another process cannot work on the device, or an empty text if it can.
std::string obstacle_between_processes(const Pair& pair, const PluginChoice& accelerator, const std::string& shares_by,
                                       bool knows_state, Catalogue& catalogue) {
  const std::string apart =
      fmt::format("{} is not in the process of {}", pair.optimizer.plan.name, pair.host.plan.name);
  if (shares_by.empty()) {
    return fmt::format("{}, and the accelerator {} cannot share its memory", apart, accelerator.name);
  }
  const auto is_wanted = [&shares_by](const PluginLabel& label) {
    return label.kind == kDevice && label.name == shares_by;
  };
  if (std::ranges::none_of(catalogue.list(), is_wanted)) {
    return fmt::format("{}, and the device plugin {}, through which processes share memory, is not there", apart,
                       shares_by);
  }
  if (!knows_state) {
    return fmt::format("{}, and does not send {} to it", apart, kState);
  }
  return "";
}

/// Returns the reason why the optimizer cannot work on the device, or an empty text if it can.
std::string obstacle(const Pair& pair, const PluginChoice& accelerator, const AcceleratorTraits& traits,
                     bool knows_state, Catalogue& catalogue) {
  if (traits.host_memory) return fmt::format("the accelerator {} trains in host memory", accelerator.name);
  if (!can_choose_memory(pair.optimizer)) {
    return fmt::format("the component {} works on host memory", pair.optimizer.plan.name);
  }
  const PluginChoice strategy = plugin_choice(pair.host, StrategyTraits::kPluginKind);
  if (!strategy.name.empty() && traits_of<StrategyTraits>(strategy, catalogue).updates_on_host) {
    return fmt::format("the strategy {} updates parameters in host memory", strategy.name);
  }
  if (pair.one_process()) return "";
  return obstacle_between_processes(pair, accelerator, traits.shares_memory_by, knows_state, catalogue);
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
  const EdgesBySender by_sender(drafts, edges);
  std::vector<MemoryFlow> flows;
  const bool several_ranks = std::ranges::count_if(drafts, trains) > 1;
  for (const Draft& host : drafts) {
    if (!trains(host)) continue;
    const PluginChoice accelerator = plugin_choice(host, AcceleratorReport::kPluginKind);
    const AcceleratorTraits traits = traits_of<AcceleratorReport>(accelerator, catalogue).traits;
    MemoryFlow flow{.rank = host.plan.rank,
                    .accelerator = accelerator.name,
                    .host_updates_because = {},
                    .shared_by = {},
                    .readers = by_sender.receivers(host, kReadable),
                    .savers = by_sender.receivers(host, kSnapshot),
                    .strategy = several_ranks ? plugin_choice(host, StrategyTraits::kPluginKind).name : "",
                    .collective = several_ranks ? plugin_choice(host, kCollective).name : ""};
    for (const EdgePlan* arena : by_sender.of_type(host, kArena)) {
      Draft& optimizer = drafts[arena->to];
      if (!is_optimizer(optimizer)) continue;
      const auto states = by_sender.of_type(optimizer, kState);
      const bool knows_state = std::ranges::find(states, host.plan.index, &EdgePlan::to) != states.end();
      const Pair pair{host, optimizer, *arena};
      const std::string reason = obstacle(pair, accelerator, traits, knows_state, catalogue);
      const std::string memory = wanted(optimizer);
      if (memory == "device" && !reason.empty()) {
        const GivenParameter& given = optimizer.given.at(kMemory);
        throw error_at(given.value.origin, given.key,
                       fmt::format("\"device\" is not possible, because {}; allowed: \"auto\", \"host\"", reason));
      }
      flow.host_updates_because = memory == "host" ? "memory = \"host\" is given" : reason;
      if (flow.host_updates_because.empty() && !pair.one_process()) flow.shared_by = traits.shares_memory_by;
      if (!traits.host_memory) set_memory(optimizer, flow.host_updates_because.empty() ? "device" : "host");
    }
    if (!traits.host_memory) flows.push_back(std::move(flow));
  }
  return flows;
}

}  // namespace trainyard::launch
