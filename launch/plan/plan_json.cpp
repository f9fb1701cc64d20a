// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "launch/plan/plan.h"
#include "messages/json.h"

namespace trainyard::launch {
namespace {

using nlohmann::ordered_json;

// The order of the keys is fixed, so that two plans can be compared line by line.
ordered_json process_json(const PlannedProcess& process, EnvironmentValues values) {
  const RespawnPolicy& respawn = process.respawn;
  ordered_json out;
  out["name"] = process.name;
  out["command"] = process.command;
  out["member"] = process.member;
  out["parameters"] = ordered_json::parse(process.parameters);
  out["environment"] = ordered_json::object();
  for (const auto& [name, value] : process.environment) {
    out["environment"][name] = values == EnvironmentValues::kShown ? ordered_json(value) : ordered_json();
  }
  out["cpus"] = process.cpus;
  out["respawn"] = {{"policy", name_of(respawn.when)},
                    {"delay_ms", respawn.delay.count()},
                    {"max", respawn.max},
                    {"window_ms", respawn.window.count()}};
  out["required"] = process.required;
  out["tcp"] = process.tcp;
  out["host"] = process.host;
  return out;
}

/// Returns the fields of the message ComponentPlan, with the parameters as JSON instead of text.
ordered_json component_json(const ComponentPlan& component) {
  ordered_json out = ordered_json::parse(to_json(component));
  out["parameters"] = ordered_json::parse(component.parameters);
  return out;
}

/// Returns the fields of the message EdgePlan, with the names of the two components.
ordered_json edge_json(const Plan& plan, const EdgePlan& edge) {
  ordered_json out = ordered_json::parse(to_json(edge));
  out["from"] = plan.components[edge.from].name;
  out["to"] = plan.components[edge.to].name;
  return out;
}

}  // namespace

std::string to_json(const Plan& plan, EnvironmentValues values) {
  ordered_json out;
  out["run"] = plan.run;
  out["file"] = plan.file;
  out["output_directory"] = plan.output_directory;
  out["seed"] = plan.seed;
  out["world_size"] = plan.world_size;
  out["hosts"] = plan.hosts;
  out["ranks_of_hosts"] = plan.ranks_of_hosts;
  out["log_level"] = name_of(plan.log_level);
  out["flush_denormals"] = plan.flush_denormals;
  out["start_timeout_ms"] = plan.start_timeout.count();
  out["stop_timeout_ms"] = plan.stop_timeout.count();
  out["progress_timeout_ms"] = plan.progress_timeout.count();
  for (const auto* list : {"choices", "warnings", "memory", "processes", "components", "edges", "activation"})
    out[list] = ordered_json::array();
  for (const Choice& choice : plan.choices) {
    out["choices"].push_back(
        {{"key", choice.key}, {"given", choice.given}, {"chosen", choice.chosen}, {"reason", choice.reason}});
  }
  out["warnings"] = plan.warnings;
  for (const MemoryFlow& flow : plan.memory) {
    out["memory"].push_back({{"rank", flow.rank},
                             {"accelerator", flow.accelerator},
                             {"updates", flow.host_updates_because.empty() ? "device" : "host"},
                             {"reason", flow.host_updates_because},
                             {"shared_by", flow.shared_by},
                             {"readers", flow.readers},
                             {"savers", flow.savers},
                             {"strategy", flow.strategy},
                             {"collective", flow.collective}});
  }
  for (const PlannedProcess& process : plan.processes) out["processes"].push_back(process_json(process, values));
  for (const ComponentPlan& component : plan.components) out["components"].push_back(component_json(component));
  for (const EdgePlan& edge : plan.edges) out["edges"].push_back(edge_json(plan, edge));
  for (const std::uint32_t index : plan.activation) out["activation"].push_back(plan.components[index].name);
  // Environment variables and commands come from the user and may not be valid UTF-8, so invalid bytes are replaced.
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace trainyard::launch
