// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/describe.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "core/component/component.h"
#include "core/plugin/loader.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

PortInfo describe_port(const std::string& name, const std::string& topic, const MessageType& type,
                       const std::string& help) {
  PortInfo port;
  port.name = name;
  // If the declaration gives no topic, the topic is the port's name. The description always contains the topic, so that
  // its readers need not know this rule.
  port.topic = topic.empty() ? name : topic;
  port.type = type.name;
  port.fingerprint = type.fingerprint;
  port.schema = type.schema_text;
  port.help = help;
  return port;
}

/// Adds the ports and services, which only components have.
void describe_component(const Component& component, PluginInfo& info) {
  for (const InputBase* input : component.inputs()) {
    PortInfo port = describe_port(input->name(), input->options().topic, input->type(), input->help());
    port.optional = input->options().optional;
    port.every_rank = input->options().every_rank;
    port.same_loop = input->options().same_loop;
    port.policy = input->options().policy;
    port.window_messages = input->options().window_messages;
    port.window_bytes = input->options().window_bytes;
    info.inputs.push_back(std::move(port));
  }
  for (const OutputBase* output : component.outputs()) {
    info.outputs.push_back(describe_port(output->name(), output->options().topic, output->type(), output->help()));
    info.outputs.back().latched = output->options().latched;
  }
  for (const ServiceBase* service : component.services()) {
    info.services.push_back(
        {service->name(), service->request_type().schema_text, service->reply_type().schema_text, service->help()});
  }
}

std::string objection_of(const Configurable& plugin) {
  try {
    plugin.check_parameters();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

PluginInfo describe_plugin(PluginLoader& loader, const std::string& path, const std::string& parameters) {
  PluginInfo info;
  info.label = read_plugin_label(path);
  info.path = path;
  const PluginEntry& entry = loader.load(path);
  const std::string where = info.label.kind + " '" + info.label.name + "'";
  // The plugin is constructed only to read its declarations, and then destroyed; it is never configured.
  const std::unique_ptr<Configurable> plugin(PluginLoader::describe(entry, where, parameters));
  if (const auto* component = dynamic_cast<const Component*>(plugin.get())) describe_component(*component, info);
  for (const ParameterBase* parameter : plugin->parameters()) info.parameters.push_back(parameter->info());
  info.traits = plugin->declared_traits();
  if (!parameters.empty()) info.objection = objection_of(*plugin);
  return info;
}

}  // namespace trainyard::core
