// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/parameters.h"

#include <algorithm>

#include "launch/file/overrides.h"
#include "launch/plan/accelerator_rules.h"
#include "launch/plan/automatic.h"
#include "launch/plan/device_request.h"
#include "launch/plan/parameter_check.h"
#include "messages/nearest.h"

namespace trainyard::launch {

// In its second step, the planner determines the parameters of each component. They come from the component's own
// `params`, which take precedence, from [topology], if the component declares a parameter of that name, and, for the
// strategy manager, from [run], which must not give the same parameters as `params`. The values keep their origins
// until they have been checked, and are then converted to JSON.

namespace {

const ParameterInfo* find_declared(const core::PluginInfo& info, const std::string& name) {
  const auto found = std::ranges::find(info.parameters, name, &ParameterInfo::name);
  return found == info.parameters.end() ? nullptr : &*found;
}

bool is_manager(const Draft& draft) { return draft.info->label.name == kManagerPlugin; }

/// Converts a value to text if the parameter is a text. The parameter `devices` is a text, but the file can give it as
/// a number or a list.
Value fit_kind(const Value& value, const ParameterInfo& declared) {
  if (declared.kind != ValueKind::kString || value.get_if<std::string>() != nullptr) return value;
  return {to_text(value), value.origin};
}

/// Adds the values of [topology]. The component's own `params` take precedence: they were added before, and
/// try_emplace() does not replace them.
void add_topology(const TopologySpec& topology, const Draft& draft, Given& given) {
  for (const auto& [name, value] : topology.given) {
    const ParameterInfo* declared = find_declared(*draft.info, name);
    if (declared != nullptr) given.try_emplace(name, GivenParameter{fit_kind(value, *declared), "topology." + name});
  }
}

/// Adds the values of [run], which are parameters of the strategy manager. Throws if `params` gives the same parameter.
void add_run(const RunSpec& run, const Draft& draft, Given& given) {
  for (const auto& [name, value] : run.manager) {
    const std::string key = "run." + name;
    if (find_declared(*draft.info, name) == nullptr) {
      std::vector<std::string> known = launcher_run_keys();
      for (const ParameterInfo& info : draft.info->parameters) known.push_back(info.name);
      throw error_at(value.origin, key, "unknown key" + suggestion(name, known));
    }
    const auto [place, fresh] = given.try_emplace(name, GivenParameter{value, key});
    if (fresh) continue;
    throw error_at(value.origin, key,
                   fmt::format("is given by {} too ({}); only one of them can be", place->second.key,
                               to_text(place->second.value.origin)));
  }
}

/// Makes the decisions that the parameters of a draft leave open, and checks all parameters against the declarations
/// and rules.
void settle_and_check(const LaunchFile& file, Draft& draft, ParameterCheck& checker, Catalogue& catalogue,
                      PlannedParameters& planned) {
  draft.given = gather_parameters(file, draft);
  settle_automatic(draft, catalogue, planned.choices);
  checker.check(draft.info->parameters, draft.given, draft.spec->origin, draft.spec->key + ".params");
  check_accelerator_rules(draft, catalogue, planned.warnings);
  check_strategy_rules(file, draft, catalogue, planned.needs);
}

/// If `devices` is a number, sets it to the number of ranks on the draft's host, which can differ between hosts.
void give_devices_of_host(Draft& draft) {
  const auto found = draft.given.find("devices");
  if (found == draft.given.end()) return;
  Value& devices = found->second.value;
  if (read_device_request(devices).kind == DeviceRequest::Kind::kCount) {
    devices.data = fmt::to_string(draft.plan.ranks_of_host);
  }
}

/// Configures a data loader to read the whole dataset as one shard. Values in the file take precedence.
void add_same_data(const Draft& draft, Given& given) {
  const std::map<std::string, std::int64_t> whole{{"shard", 0}, {"shards", 1}};
  for (const auto& [name, value] : whole) {
    if (find_declared(*draft.info, name) == nullptr) continue;
    given.try_emplace(name, GivenParameter{{value, draft.spec->origin}, draft.spec->key + ".params." + name});
  }
}

/// Returns the JSON text with which the component will be constructed.
std::string dump(const Given& given, const ComponentSpec& spec) {
  Value::Table table;
  for (const auto& [name, parameter] : given) table[name] = parameter.value;
  return to_json_text({std::move(table), spec.origin}, spec.key + ".params");
}

/// Throws if no component uses a key of [run] or [topology], because the key would be silently ignored.
void check_all_taken(const LaunchFile& file, const std::vector<Draft>& drafts) {
  if (!file.run.manager.empty() && std::ranges::none_of(drafts, is_manager)) {
    // The error shows only the first of these keys.
    const auto& [name, value] = *file.run.manager.begin();
    throw error_at(
        value.origin, "run." + name,
        fmt::format("is for a component with plugin = \"{}\", and there is none; the launcher's own keys: {}",
                    kManagerPlugin, suggestion(name, launcher_run_keys()).substr(2)));
  }
  for (const auto& [name, value] : file.topology.given) {
    const auto declares = [&name = name](const Draft& draft) { return find_declared(*draft.info, name) != nullptr; };
    // The planner itself uses `devices` to determine the number of ranks.
    if (name == "devices" || std::ranges::any_of(drafts, declares)) continue;
    throw error_at(value.origin, "topology." + name, fmt::format("no component has a parameter '{}'", name));
  }
}

/// Asks a component whether its parameters are consistent, if its traits state that it can check this.
void check_own_rules(const Draft& draft, Catalogue& catalogue) {
  if (!draft.info->component_traits().checks_parameters) return;
  const std::string& name = draft.spec->plugin.text;
  const std::string objection =
      catalogue.ask(ComponentTraits::kPluginKind, name, draft.plan.parameters, /*anew=*/false).objection;
  if (!objection.empty()) throw error_at(draft.spec->origin, draft.spec->key, objection);
}

}  // namespace

Given gather_parameters(const LaunchFile& file, const Draft& draft) {
  Given given;
  const std::string key = draft.spec->key + ".params";
  for (const auto& [name, value] : std::get<Value::Table>(draft.spec->parameters.data)) {
    given[name] = {value, join_key(key, name)};
  }
  add_topology(file.topology, draft, given);
  if (is_manager(draft)) add_run(file.run, draft, given);
  return given;
}

PlannedParameters plan_parameters(const LaunchFile& file, std::vector<Draft>& drafts, Catalogue& catalogue) {
  check_all_taken(file, drafts);
  ParameterCheck checker(catalogue);
  PlannedParameters planned;
  // There are two passes, because the parameters of a data loader depend on the strategy of an accelerator host, which
  // can come later in the list.
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    // All ranks of a component get the same parameters, so these are checked only once.
    if (i == 0 || drafts[i].spec != drafts[i - 1].spec) {
      settle_and_check(file, drafts[i], checker, catalogue, planned);
    } else {
      drafts[i].given = drafts[i - 1].given;
    }
    if (file.topology.ranks_per_host) give_devices_of_host(drafts[i]);
  }
  for (Draft& draft : drafts) {
    if (planned.needs.same_data && draft.plan.world_size > 1) add_same_data(draft, draft.given);
    draft.plan.parameters = dump(draft.given, *draft.spec);
    for (const auto& [name, parameter] : draft.given) draft.plan.places[name] = to_text(parameter.value.origin);
    if (draft.plan.rank == 0) check_own_rules(draft, catalogue);
  }
  return planned;
}

}  // namespace trainyard::launch
