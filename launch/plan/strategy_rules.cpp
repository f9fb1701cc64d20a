// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/strategy_rules.h"

#include "launch/plan/plugin_choice.h"

namespace trainyard::launch {
namespace {

std::string served_ranks(const StrategyTraits& traits) {
  if (traits.max_ranks == 0) return fmt::format("{} or more", traits.min_ranks);
  if (traits.max_ranks == traits.min_ranks) return fmt::format("{}", traits.min_ranks);
  return fmt::format("{} to {}", traits.min_ranks, traits.max_ranks);
}

/// Returns the error about a number of ranks that the strategy does not support. It points to the number of devices, if
/// the file gives one, and otherwise to the strategy.
Error wrong_ranks(const LaunchFile& file, const PluginChoice& strategy, std::uint32_t ranks,
                  const StrategyTraits& traits) {
  const std::string text = fmt::format("{} {} not allowed with the strategy {}, which serves {}", ranks,
                                       ranks == 1 ? "rank is" : "ranks are", strategy.name, served_ranks(traits));
  const auto devices = file.topology.given.find("devices");
  if (devices != file.topology.given.end()) return error_at(devices->second.origin, "topology.devices", text);
  return error_at(strategy.place.value.origin, strategy.place.key, text + "; topology.devices says how many there are");
}

/// Throws if there are several hosts but the ranks of the strategy share memory or a process.
void check_hosts(const LaunchFile& file, const PluginChoice& strategy, std::uint32_t hosts,
                 const StrategyTraits& traits) {
  if (hosts == 1 || traits.share == RanksShare::kNothing) return;
  const std::string text = fmt::format(
      "{} hosts are not allowed with the strategy {}, whose ranks share {}; 1 host is, or a strategy such as ddp",
      hosts, strategy.name, traits.share == RanksShare::kMemory ? "memory" : "a process");
  if (file.topology.nodes) throw error_at(file.topology.nodes->origin, "topology.nodes", text);
  throw error_at(strategy.place.value.origin, strategy.place.key, text);
}

StrategyTraits traits_of(const PluginChoice& strategy, Catalogue& catalogue, bool anew) {
  try {
    return catalogue.traits<StrategyTraits>(strategy.name, strategy.parameters, anew);
  } catch (const Error& error) {
    throw error_at(strategy.place.value.origin, strategy.place.key, error.what(), error.code());
  }
}

/// Returns the error about a component that is not in the same process as the others. It points to what has placed the
/// component: its key `process`, or the placement in [topology].
Error wrong_process(const LaunchFile& file, const Draft& draft, const std::string& strategy) {
  const ComponentSpec& spec = *draft.spec;
  const auto error = [&](const Origin& origin, const std::string& key, const std::string& given) {
    return error_at(origin, key,
                    fmt::format("\"{}\" is not allowed with the strategy {}, whose ranks share one process; allowed is "
                                "placement = \"composed\"",
                                given, strategy));
  };
  if (spec.process) return error(spec.process->origin, spec.key + ".process", spec.process->text);
  const auto placed = file.topology.placed.find(spec.name);
  if (placed != file.topology.placed.end()) {
    return error(placed->second.origin, "topology.placement." + placed->second.text, spec.name);
  }
  if (spec.tcp) return error(spec.origin, spec.key + ".host", "127.0.0.1");
  if (!file.topology.placement) return error(spec.origin, spec.key, draft.plan.process);
  return error(file.topology.placement->origin, "topology.placement",
               std::string(name_of(file.topology.placement->word)));
}

}  // namespace

void check_strategy_rules(const LaunchFile& file, const Draft& draft, Catalogue& catalogue, StrategyNeeds& needs) {
  const PluginChoice strategy = plugin_choice(draft, StrategyTraits::kPluginKind);
  if (strategy.name.empty()) return;
  const std::uint32_t ranks = draft.plan.world_size;
  StrategyTraits traits = traits_of(strategy, catalogue, /*anew=*/false);
  if (!traits.serves(ranks)) traits = traits_of(strategy, catalogue, /*anew=*/true);
  if (!traits.serves(ranks)) throw wrong_ranks(file, strategy, ranks, traits);
  check_hosts(file, strategy, draft.hosts, traits);
  if (traits.share == RanksShare::kProcess) needs.one_process = strategy.name;
  if (traits.same_data) needs.same_data = true;
}

void check_one_process(const LaunchFile& file, const std::vector<Draft>& drafts, const StrategyNeeds& needs) {
  if (needs.one_process.empty()) return;
  const Draft* first = nullptr;
  for (const Draft& draft : drafts) {
    if (plugin_choice(draft, StrategyTraits::kPluginKind).declared == nullptr) continue;
    if (first == nullptr) first = &draft;
    if (draft.plan.process != first->plan.process) throw wrong_process(file, draft, needs.one_process);
  }
}

}  // namespace trainyard::launch
