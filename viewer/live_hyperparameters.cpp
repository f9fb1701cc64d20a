// SPDX-License-Identifier: Apache-2.0
#include "viewer/live_hyperparameters.h"

#include <string>
#include <utility>
#include <vector>

#include "messages/error.h"
#include "viewer/past_run.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

/// Adds the values of a parameter to `map`, under names such as "accelerator_host.model.plugin".
void flatten(const std::string& name, const json& value, json& map) {
  if (!value.is_object()) {
    map[name] = value;
    return;
  }
  for (const auto& [key, inner] : value.items()) flatten(name + "." + key, inner, map);
}

/// Returns the names of the components to ask. Of components that exist for each rank, only rank 0 is asked.
std::vector<std::string> components_of(const visitors::Observation& observation) {
  std::vector<std::string> names;
  for (const auto& each : observation.nodes) {
    if (!each.plugin.empty() && each.rank.value_or(0) == 0) names.push_back(each.name);
  }
  return names;
}

json ask_parameters(visitors::RegistryClient& registry, const std::vector<std::string>& components) {
  json map = json::object();
  for (const std::string& name : components) {
    const std::size_t slash = name.rfind('/');
    const std::string short_name = slash == std::string::npos ? name : name.substr(slash + 1);
    for (const json& each : registry.call(name, "param.list")) {
      flatten(short_name + "." + each.value("name", ""), each.value("value", json()), map);
    }
  }
  return map;
}

}  // namespace

void find_hyperparameters(const Identity& identity, const visitors::Observation& observation,
                          const std::shared_ptr<Book>& book, Errands& errands) {
  try {
    const auto record = record_of_launch(identity.directory, identity.run);
    if (record) return book->set_hyperparameters(hyperparameters_of(*record));
  } catch (const Error&) {
    // A record that cannot be read counts as missing.
  }
  errands.post([book, components = components_of(observation)](visitors::RegistryClient& registry) {
    book->set_hyperparameters(ask_parameters(registry, components));
  });
}

}  // namespace trainyard::viewer
