// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/automatic.h"

#include <algorithm>

#include "launch/plan/device_request.h"
#include "launch/plan/parameters.h"
#include "launch/plan/plugin_choice.h"

namespace trainyard::launch {
namespace {

constexpr const char* kAutomatic = "auto";
constexpr const char* kOneRank = "single_device";
constexpr const char* kManyRanks = "ddp";
constexpr const char* kCollective = "collective";
constexpr const char* kBetweenHosts = "tcp";
constexpr const char* kWithinHost = "shared_memory";

/// Returns the report of an accelerator. If the plugin cannot be queried, for instance because it was built for another
/// version, returns a report with which it is never chosen.
AcceleratorReport report_or_none(Catalogue& catalogue, const std::string& name, bool anew) {
  try {
    return catalogue.traits<AcceleratorReport>(name, "{}", anew);
  } catch (const Error& error) {
    return {.devices = 0, .problem = error.what(), .traits = {.auto_priority = 0}};
  }
}

/// Returns the names of the accelerators that can be chosen automatically, the most preferred first.
std::vector<std::string> preferred_accelerators(Catalogue& catalogue) {
  std::vector<std::pair<int, std::string>> ranked;
  for (const PluginLabel& label : catalogue.list()) {
    if (label.kind != AcceleratorReport::kPluginKind) continue;
    const int priority = report_or_none(catalogue, label.name, /*anew=*/false).traits.auto_priority;
    if (priority > 0) ranked.emplace_back(-priority, label.name);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> names;
  for (auto& [priority, name] : ranked) names.push_back(std::move(name));
  return names;
}

/// Returns the most preferred accelerator that is available. Accelerators are queried again, one after another, because
/// devices may have been added or removed since the last launch.
std::string best_accelerator(const PluginChoice& choice, Catalogue& catalogue) {
  for (const std::string& name : preferred_accelerators(catalogue)) {
    if (report_or_none(catalogue, name, /*anew=*/true).available()) return name;
  }
  throw error_at(choice.place.value.origin, choice.place.key, "no accelerator is available on this machine",
                 Code::kNotFound);
}

void settle_accelerator(Draft& draft, Catalogue& catalogue, std::vector<Choice>& choices) {
  const PluginChoice now = plugin_choice(draft, AcceleratorReport::kPluginKind);
  if (now.name != kAutomatic) return;
  const std::string best = best_accelerator(now, catalogue);
  set_choice(draft, now, best);
  choices.push_back({"accelerator", kAutomatic, best, "of those that this machine has, the one that is preferred"});
}

void settle_devices(Draft& draft) {
  const auto found = draft.given.find("devices");
  if (found == draft.given.end() || plugin_choice(draft, AcceleratorReport::kPluginKind).declared == nullptr) return;
  const DeviceRequest::Kind kind = read_device_request(found->second.value).kind;
  if (kind == DeviceRequest::Kind::kIndices || kind == DeviceRequest::Kind::kCount) return;
  found->second.value.data = fmt::to_string(draft.plan.ranks_of_host);
}

void settle_strategy(Draft& draft, std::vector<Choice>& choices) {
  const PluginChoice now = plugin_choice(draft, StrategyTraits::kPluginKind);
  if (now.declared == nullptr) return;
  const std::string fitting = draft.plan.world_size == 1 ? kOneRank : kManyRanks;
  const bool given = draft.given.contains(now.declared->name);
  const bool default_serves_one = !given && now.name == kOneRank && fitting != kOneRank;
  if (now.name != kAutomatic && !default_serves_one) return;
  set_choice(draft, now, fitting);
  choices.push_back({"strategy", given ? kAutomatic : "", fitting,
                     draft.plan.world_size == 1 ? "for one rank" : "for several ranks"});
}

void settle_collective(Draft& draft, std::vector<Choice>& choices) {
  const PluginChoice now = plugin_choice(draft, kCollective);
  if (now.declared == nullptr || draft.hosts == 1) return;
  if (now.name == kWithinHost) {
    throw error_at(
        now.place.value.origin, now.place.key,
        fmt::format("{} works only between ranks of one host, and this run has {} hosts; {} or {} is allowed",
                    kWithinHost, draft.hosts, kAutomatic, kBetweenHosts));
  }
  if (now.name != kAutomatic) return;
  set_choice(draft, now, kBetweenHosts);
  choices.push_back({"collective", draft.given.contains(now.declared->name) ? kAutomatic : "", kBetweenHosts,
                     "the ranks are on several hosts"});
}

/// Returns the report of the chosen accelerator. The accelerator is asked again, because the plugin cache may come from
/// another machine.
AcceleratorReport report_of(const PluginChoice& choice, Catalogue& catalogue) {
  try {
    return catalogue.traits<AcceleratorReport>(choice.name, choice.parameters, /*anew=*/true);
  } catch (const Error& error) {
    throw error_at(choice.place.value.origin, choice.place.key, error.what(), error.code());
  }
}

/// Replaces the precision "auto" by the one that the accelerator recommends.
void settle_precision(Draft& draft, Catalogue& catalogue, std::vector<Choice>& choices) {
  const auto found = draft.given.find("precision");
  const PluginChoice accelerator = plugin_choice(draft, AcceleratorReport::kPluginKind);
  if (found == draft.given.end() || accelerator.name.empty()) return;
  Value& precision = found->second.value;
  const auto* word = precision.get_if<std::string>();
  if (word == nullptr || *word != kAutomatic) return;
  const AcceleratorTraits traits = report_of(accelerator, catalogue).traits;
  const std::string& reason = traits.auto_precision_reason;
  precision.data = traits.auto_precision;
  choices.push_back({"precision", kAutomatic, traits.auto_precision,
                     reason.empty() ? fmt::format("the accelerator {} prefers no other", accelerator.name) : reason,
                     /*changes_results=*/true});
}

/// Returns the number of devices of the accelerator, and sets `name` to its name. The first component that has an
/// accelerator decides, because all ranks have the same one.
std::int64_t count_devices(const LaunchFile& file, const Value& devices, Catalogue& catalogue, std::string& name) {
  for (Draft& draft : draft_components(file, 1, catalogue)) {
    draft.given = gather_parameters(file, draft);
    std::vector<Choice> unused;
    settle_accelerator(draft, catalogue, unused);
    const PluginChoice choice = plugin_choice(draft, AcceleratorReport::kPluginKind);
    if (choice.name.empty()) continue;
    name = choice.name;
    return report_of(choice, catalogue).devices;
  }
  throw error_at(devices.origin, "topology.devices", "-1 is not allowed, because no component has an accelerator");
}

Error no_such_devices(const Value& devices) {
  return not_allowed(devices, "topology.devices",
                     fmt::format("a count from 1 to {}, a list of device indices, \"auto\" for one rank, or -1 for a "
                                 "rank on every device",
                                 kMostRanks));
}

}  // namespace

std::uint32_t settle_ranks(LaunchFile& file, Catalogue& catalogue, std::vector<Choice>& choices) {
  const auto found = file.topology.given.find("devices");
  if (found == file.topology.given.end()) return 1;
  Value& devices = found->second;
  const DeviceRequest request = read_device_request(devices);
  std::int64_t count = request.count;
  if (request.kind == DeviceRequest::Kind::kAutomatic) {
    count = 1;
    choices.push_back({"devices", kAutomatic, "1", "one rank, on the first device"});
  } else if (request.kind == DeviceRequest::Kind::kAll) {
    std::string accelerator;
    count = count_devices(file, devices, catalogue, accelerator);
    choices.push_back({"devices", "-1", fmt::to_string(count), "a rank on every device of " + accelerator});
    // An accelerator without devices is refused later, with the reason that it gives.
    count = std::max<std::int64_t>(count, 1);
  }
  if (count < 1 || count > kMostRanks) throw no_such_devices(devices);
  if (request.kind != DeviceRequest::Kind::kIndices) devices.data = count;
  return static_cast<std::uint32_t>(count);
}

void settle_automatic(Draft& draft, Catalogue& catalogue, std::vector<Choice>& choices) {
  settle_accelerator(draft, catalogue, choices);
  settle_precision(draft, catalogue, choices);
  settle_devices(draft);
  settle_strategy(draft, choices);
  settle_collective(draft, choices);
}

// By default, each of several ranks gets a separate process, so that the ranks do not share the threads and the random
// generator of LibTorch.
Placement settle_placement(const LaunchFile& file, const StrategyNeeds& needs, std::uint32_t ranks,
                           std::vector<Choice>& choices) {
  if (file.topology.placement) return file.topology.placement->word;
  const auto choose = [&](Placement chosen, const std::string& reason) {
    if (ranks > 1) choices.push_back({"placement", "", std::string(trainyard::name_of(chosen)), reason});
    return chosen;
  };
  if (!needs.one_process.empty()) {
    return choose(Placement::kComposed, "the ranks of the strategy " + needs.one_process + " share one process");
  }
  if (!file.topology.placed.empty()) return choose(Placement::kComposed, "the file places components itself");
  return choose(Placement::kRanks, "a process for each rank");
}

}  // namespace trainyard::launch
