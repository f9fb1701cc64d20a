// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/config/parameter_info.h"
#include "core/plugin/abi.h"
#include "core/traits/plugin_traits.h"
#include "messages/edge_words.h"

namespace trainyard::core {

/// One port of a component, as declared.
struct PortInfo {
  std::string name;
  std::string topic;  ///< The default topic: relative to the component's namespace, or absolute with a leading '/'.
  std::string type;
  std::uint64_t fingerprint = 0;
  std::string schema;
  std::string help;
  bool optional = false;               ///< For inputs: true if the input may stay unconnected.
  bool every_rank = false;             ///< For inputs of a component that exists once: true to receive from all ranks.
  bool same_loop = false;              ///< For inputs: true if every sender must run on the same event loop.
  Policy policy = Policy::kBlock;      ///< For inputs: the default policy of edges to it.
  std::uint64_t window_messages = 64;  ///< For inputs: the default limit on messages in flight.
  std::uint64_t window_bytes = 256 << 20;  ///< For inputs: the default limit on bytes in flight.
  bool latched = false;  ///< For outputs: true if programs that subscribe later receive the last message.
};

/// One service of a component.
struct ServiceInfo {
  std::string name;
  std::string request_schema;
  std::string reply_schema;
  std::string help;
};

/// Everything that is known about a plugin without configuring it. Launch files are checked against this information,
/// and `trainyard plugin info` prints it.
struct PluginInfo {
  PluginLabel label;
  std::string path;
  std::vector<ParameterInfo> parameters;
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::vector<ServiceInfo> services;
  PluginTraits traits;
  std::string objection;  ///< Why the given parameters contradict each other; empty if they do not.

  /// Returns the traits of a component; for any other plugin, the defaults.
  ComponentTraits component_traits() const;
};

/// Converts the information about a plugin to JSON.
nlohmann::json to_json(const PluginInfo& info);
/// Converts JSON back to the information about a plugin. If a field is missing or of another type, the JSON library
/// throws its own exception. Throws kPluginLoad for traits that are not allowed.
PluginInfo plugin_info_from_json(const nlohmann::json& json);

}  // namespace trainyard::core
