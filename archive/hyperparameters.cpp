// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "archive/run_record.h"
#include "archive/small_file.h"
#include "core/config/bounded_json.h"
#include "core/files/regular_file.h"
#include "messages/error.h"

namespace trainyard::archive {

namespace {

using nlohmann::json;

/// The largest size of a plan. The plan of a run with a thousand ranks has about 10 MiB.
constexpr std::size_t kMostPlanBytes = 64 << 20;

/// Adds the values of an object to `all`, under names such as "model.layers.width". A list is added as one value,
/// because its elements have no names.
void flatten(const std::string& name, const json& value, std::map<std::string, json>& all) {
  if (!value.is_object() || value.empty()) {
    all[name] = value;
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten(name + "." + key, inner, all);
}

void add_component(const json& component, std::map<std::string, json>& all) {
  const std::string name = component.at("name");
  // All ranks have the same parameters, so those of rank 0 suffice.
  if (name.starts_with("rank") && !name.starts_with("rank0/")) return;
  const std::string short_name = name.starts_with("rank0/") ? name.substr(sizeof "rank0/" - 1) : name;
  // The plugin is listed only if its name differs from the name of the component, which is rare.
  if (component.at("plugin") != short_name) all[short_name + ".plugin"] = component.at("plugin");
  const json& parameters = component.at("parameters");
  for (const auto& [key, value] : parameters.items()) flatten(short_name + "." + key, value, all);
}

}  // namespace

std::map<std::string, json> hyperparameters(const RunRecord& run) {
  std::map<std::string, json> all;
  if (run.last() == nullptr) return all;
  const std::string path = launch_folder(run.directory, run.last()->number) + "/plan.json";
  if (!core::is_there(path)) return all;
  const std::optional<json> plan = parse_bounded_json(read_small_file(path, kMostPlanBytes));
  if (!plan) throw Error(Code::kCorrupt, "{}: is not JSON", path);
  try {
    all["seed"] = plan->at("seed");
    all["ranks"] = plan->at("world_size");
    for (const json& component : plan->at("components")) add_component(component, all);
  } catch (const json::exception& error) {
    throw Error(Code::kCorrupt, "{}: {}", path, error.what());
  }
  return all;
}

}  // namespace trainyard::archive
