// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/strategy_rules.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "launch/plan/plugin_choice.h"

namespace trainyard::launch {
namespace {

constexpr const char* kStrategy = "strategy";
constexpr const char* kAutomatic = "auto";
constexpr const char* kOneRank = "single_device";
constexpr const char* kManyRanks = "ddp";
using Given = std::map<std::string, GivenParameter>;
using Facts = Catalogue::Facts;

/// Returns `otherwise` for "any", and for what is missing or not a number; then everything is allowed.
std::uint32_t number_fact(const Facts& facts, const std::string& name, std::uint32_t otherwise) {
  const auto found = facts.find(name);
  if (found == facts.end()) return otherwise;
  std::uint32_t number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [rest, error] = std::from_chars(found->second.data(), end, number);
  return error == std::errc() && rest == end ? number : otherwise;
}

bool is_true(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found != facts.end() && found->second == "true";
}

/// How many ranks a strategy supports; both ends are included.
struct RankRange {
  static constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();
  explicit RankRange(const Facts& facts)
      : least(number_fact(facts, "min_ranks", 1)), most(number_fact(facts, "max_ranks", kAny)) {}

  bool holds(std::uint32_t ranks) const { return least <= ranks && ranks <= most; }
  std::string text() const {
    if (most == kAny) return fmt::format("{} or more", least);
    return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  }

  std::uint32_t least;
  std::uint32_t most;
};

/// The error points to the number of devices if the file gives one, because that is what to change; otherwise to the
/// strategy.
Error wrong_ranks(const LaunchFile& file, const PluginChoice& strategy, std::uint32_t ranks, const RankRange& range) {
  const std::string text = fmt::format("{} {} not allowed with the strategy {}, which serves {}", ranks,
                                       ranks == 1 ? "rank is" : "ranks are", strategy.name, range.text());
  const auto devices = file.topology.given.find("devices");
  if (devices != file.topology.given.end()) return error_at(devices->second.origin, "topology.devices", text);
  return error_at(strategy.place.value.origin, strategy.place.key, text + "; topology.devices says how many there are");
}

Facts strategy_facts(const PluginChoice& strategy, Catalogue& catalogue, bool anew) {
  try {
    return catalogue.facts(kStrategy, strategy.name, strategy.parameters, anew);
  } catch (const Error& error) {
    throw error_at(strategy.place.value.origin, strategy.place.key, error.what(), error.code());
  }
}

/// What put a component where it is: its own word, the table of [topology], or the word there.
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
  return error(file.topology.placement.origin, "topology.placement", file.topology.placement.text);
}

}  // namespace

const ParameterInfo* find_strategy(const core::PluginInfo& info) {
  const auto found = std::ranges::find_if(info.parameters, [](const ParameterInfo& parameter) {
    return parameter.kind == ValueKind::kPlugin && parameter.rules.plugin_kind == kStrategy;
  });
  return found == info.parameters.end() ? nullptr : &*found;
}

void settle_strategy(const Draft& draft, Given& given) {
  const ParameterInfo* declared = find_strategy(*draft.info);
  if (declared == nullptr) return;
  const PluginChoice now = plugin_choice(draft, *declared, given);
  const std::string fitting = draft.plan.world_size == 1 ? kOneRank : kManyRanks;
  const auto found = given.find(declared->name);
  if (found != given.end()) {
    // A table keeps its other keys, because they are parameters of whatever is chosen.
    auto* table = found->second.value.get_if<Value::Table>();
    if (now.name == kAutomatic) (table == nullptr ? found->second.value : table->at("plugin")).data = fitting;
  } else if (now.name == kAutomatic || (now.name == kOneRank && fitting != kOneRank)) {
    given[declared->name] = {Value{fitting, draft.spec->origin}, draft.spec->key + ".params." + declared->name};
  }
}

void check_strategy_rules(const LaunchFile& file, const Draft& draft, const Given& given, Catalogue& catalogue,
                          StrategyNeeds& needs) {
  const ParameterInfo* declared = find_strategy(*draft.info);
  if (declared == nullptr) return;
  const PluginChoice strategy = plugin_choice(draft, *declared, given);
  if (strategy.name.empty()) return;
  const std::uint32_t ranks = draft.plan.world_size;
  Facts facts = strategy_facts(strategy, catalogue, /*anew=*/false);
  if (!RankRange(facts).holds(ranks)) facts = strategy_facts(strategy, catalogue, /*anew=*/true);
  if (const RankRange range(facts); !range.holds(ranks)) throw wrong_ranks(file, strategy, ranks, range);
  if (is_true(facts, "one_process")) needs.one_process = strategy.name;
  if (is_true(facts, "same_data")) needs.same_data = true;
}

void check_one_process(const LaunchFile& file, const std::vector<Draft>& drafts, const StrategyNeeds& needs) {
  if (needs.one_process.empty()) return;
  const Draft* first = nullptr;
  for (const Draft& draft : drafts) {
    if (find_strategy(*draft.info) == nullptr) continue;
    if (first == nullptr) first = &draft;
    if (draft.plan.process != first->plan.process) throw wrong_process(file, draft, needs.one_process);
  }
}

}  // namespace trainyard::launch
