// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/plugin_info.h"

#include <nlohmann/json.hpp>

namespace trainyard::core {

// Converts the description of a plugin to JSON and back. In this form, the child process that has loaded the plugin
// sends the description to its parent process. For each struct there is one function in each direction.
using nlohmann::json;

namespace {

// The launcher also caches this JSON. It discards cache entries that lack a field, so new fields may be added.
json port_to_json(const PortInfo& port) {
  return {{"name", port.name},
          {"topic", port.topic},
          {"type", port.type},
          {"fingerprint", port.fingerprint},
          {"schema", port.schema},
          {"help", port.help},
          {"optional", port.optional},
          {"every_rank", port.every_rank},
          {"same_loop", port.same_loop},
          {"policy", name_of(port.policy)},
          {"window_messages", port.window_messages},
          {"window_bytes", port.window_bytes},
          {"latched", port.latched}};
}

// Throws if a field is missing, because the description was then written by another version.
PortInfo port_from_json(const json& in) {
  PortInfo port;
  in.at("name").get_to(port.name);
  in.at("topic").get_to(port.topic);
  in.at("type").get_to(port.type);
  in.at("fingerprint").get_to(port.fingerprint);
  in.at("schema").get_to(port.schema);
  in.at("help").get_to(port.help);
  in.at("optional").get_to(port.optional);
  in.at("every_rank").get_to(port.every_rank);
  in.at("same_loop").get_to(port.same_loop);
  port.policy = from_name<Policy>(in.at("policy").get<std::string>());
  in.at("window_messages").get_to(port.window_messages);
  in.at("window_bytes").get_to(port.window_bytes);
  in.at("latched").get_to(port.latched);
  return port;
}

}  // namespace

ComponentTraits PluginInfo::component_traits() const {
  const auto* found = std::get_if<ComponentTraits>(&traits.of_kind);
  return found == nullptr ? ComponentTraits{} : *found;
}

// The fields of the label are not in an object of their own, because `trainyard plugin info --json` prints this JSON
// for users.
json to_json(const PluginInfo& info) {
  json out{{"kind", info.label.kind},        {"name", info.label.name},
           {"version", info.label.version},  {"description", info.label.description},
           {"abi_tag", info.label.abi_tag},  {"path", info.path},
           {"traits", to_json(info.traits)}, {"objection", info.objection},
           {"parameters", json::array()},    {"inputs", json::array()},
           {"outputs", json::array()},       {"services", json::array()}};
  for (const ParameterInfo& parameter : info.parameters) out["parameters"].push_back(to_json(parameter));
  for (const PortInfo& port : info.inputs) out["inputs"].push_back(port_to_json(port));
  for (const PortInfo& port : info.outputs) out["outputs"].push_back(port_to_json(port));
  for (const ServiceInfo& service : info.services) {
    out["services"].push_back({{"name", service.name},
                               {"request", service.request_schema},
                               {"reply", service.reply_schema},
                               {"help", service.help}});
  }
  return out;
}

PluginInfo plugin_info_from_json(const json& in) {
  PluginInfo info;
  in.at("kind").get_to(info.label.kind);
  in.at("name").get_to(info.label.name);
  in.at("version").get_to(info.label.version);
  in.at("description").get_to(info.label.description);
  in.at("abi_tag").get_to(info.label.abi_tag);
  in.at("path").get_to(info.path);
  in.at("objection").get_to(info.objection);
  info.traits =
      plugin_traits_from_json(info.label.kind, in.at("traits"), info.label.kind + " '" + info.label.name + "'");
  for (const json& parameter : in.at("parameters")) info.parameters.push_back(parameter_info_from_json(parameter));
  for (const json& port : in.at("inputs")) info.inputs.push_back(port_from_json(port));
  for (const json& port : in.at("outputs")) info.outputs.push_back(port_from_json(port));
  for (const json& service : in.at("services")) {
    info.services.push_back({service.at("name"), service.at("request"), service.at("reply"), service.at("help")});
  }
  return info;
}

}  // namespace trainyard::core
