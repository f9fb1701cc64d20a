#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/config/parameter_info.h"
#include "core/plugin/abi.h"

namespace trainyard {

/// One port of a component as it was declared.
struct PortInfo {
  std::string name;
  std::string topic;  ///< Default topic: relative to the component's namespace, or absolute with a leading '/'.
  std::string type;
  std::uint64_t fingerprint = 0;
  std::string schema;
  std::string help;
  bool optional = false;                   ///< Inputs: may stay unconnected.
  bool every_rank = false;                 ///< Inputs of what is made once: hear all ranks.
  std::string policy = "block";            ///< Inputs: "block", "latest", "drop_oldest".
  std::uint64_t window_messages = 64;      ///< Inputs: credits.
  std::uint64_t window_bytes = 256 << 20;  ///< Inputs: credits.
};

/// One service of a component.
struct ServiceInfo {
  std::string name;
  std::string request_schema;
  std::string reply_schema;
  std::string help;
};

/// Everything that can be known of a plugin without running it in earnest: what a launch file is checked against, and
/// what `trainyard plugin info` prints.
struct PluginInfo {
  PluginLabel label;
  std::string path;
  std::vector<ParameterInfo> parameters;
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::vector<ServiceInfo> services;
  bool per_rank = false;  ///< Components: one for every rank.
  std::string thread;     ///< Components: the event loop it likes to share when composed.
  std::map<std::string, std::string> facts;
};

/// To JSON and back; throws the JSON library's exception for a field that is missing or of another type.
nlohmann::json to_json(const PluginInfo& info);
PluginInfo plugin_info_from_json(const nlohmann::json& json);

}  // namespace trainyard
